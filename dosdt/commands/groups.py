"""Options that several commands take, as groups: stated once, and handed over as one value each."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, is_dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, get_type_hints

from dosdt import options

if TYPE_CHECKING:
    from dosdt.binarizer import Binarizer
    from dosdt.classifier import DOSDTClassifier
    from dosdt.inputs import TrainingData


@dataclass(frozen=True)
class Task:
    """What a tree is for, and which trees are allowed."""

    target: options.Target = None
    class_weight: options.ClassWeight = None
    cost_matrix: options.CostMatrix = None
    weights: options.Weights = None
    max_depth: options.MaxDepth = None
    max_leaves: options.MaxLeaves = None
    min_support: options.MinSupport = None

    def named(self) -> dict[str, Any]:
        """Return what the classifier takes, by name."""
        from dosdt.inputs import parse_costs

        return {
            "class_weight": self.class_weight,
            "cost_matrix": None if self.cost_matrix is None else parse_costs(self.cost_matrix),
            "max_depth": self.max_depth,
            "max_leaves": self.max_leaves,
            "min_support": self.min_support,
        }


@dataclass(frozen=True)
class Features:
    """What may be asked about a table."""

    drop: options.Drop = None
    categories: options.Categories = None
    max_categories: options.MaxCategories = 50
    missing: options.Missing = "error"
    thresholds: options.Thresholds = None
    max_thresholds: options.MaxThresholds = None

    def table(self, data: str, task: Task) -> TrainingData:
        """Read a table and take it apart."""
        from dosdt.inputs import training_data

        return training_data(
            data, target=task.target, weights=task.weights, drop=self.drop or [], text=self.categories or []
        )

    def binarizer(self, target: object) -> Binarizer:
        """Return what turns columns into questions; the label is none of them."""
        from dosdt.binarizer import Binarizer

        return Binarizer(
            thresholds=self.thresholds or ("auto" if self.max_thresholds is None else "quantile"),
            max_thresholds=self.max_thresholds,
            missing=self.missing,
            categories=[name for name in self.categories or [] if name != target],
            max_categories=self.max_categories,
        )


@dataclass(frozen=True)
class Limits:
    """When to stop."""

    time_limit: options.TimeLimit = None
    memory_limit: options.MemoryLimit = None
    evaluation_limit: options.EvaluationLimit = None
    relative_gap: options.RelativeGap = "0"

    def named(self) -> dict[str, Any]:
        """Return the limits by name, as the classifier takes them."""
        return asdict(self)


@dataclass(frozen=True)
class Team:
    """Who takes part."""

    workers: options.Workers = None
    ray_address: options.RayAddress = None

    def named(self) -> dict[str, Any]:
        """Return both by name, as the classifier takes them."""
        return {"n_jobs": self.workers, "ray_address": self.ray_address}


@dataclass(frozen=True)
class Output:
    """What becomes of the answer and of what is said on the way."""

    model: options.SaveModel = None
    certificate: options.SaveCertificate = None
    log_file: options.LogFile = None
    as_json: options.Json = False
    quiet: options.Quiet = False

    def check(self, given: str, checkpoint: str | None = None) -> None:
        """Refuse files that could not be written later, or that would take the place of the one given or another."""
        from dosdt.inputs import check_outputs

        check_outputs(given, model=self.model, certificate=self.certificate, checkpoint=checkpoint, log=self.log_file)

    @property
    def verbose(self) -> bool:
        """Whether to say on stderr what is going on; a program that reads JSON does not want to know."""
        return not self.quiet and not self.as_json

    def give(self, fitted: DOSDTClassifier, target: str | None) -> None:
        """Save the model and print the answer."""
        from dosdt.cli import emit
        from dosdt.model_file import save_model
        from dosdt.panel import result_text
        from dosdt.present import result_json

        if self.model is not None:
            save_model(fitted.to_model(target), self.model)
        emit(result_json(fitted) if self.as_json else result_text(fitted))


def flat(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that takes the fields of its groups one by one, as typer wants it."""
    hints = get_type_hints(command, include_extras=True)
    signature = inspect.signature(command)
    groups = {name: hint for name, hint in hints.items() if isinstance(hint, type) and is_dataclass(hint)}
    parameters: list[inspect.Parameter] = []
    for name, parameter in signature.parameters.items():
        if name in groups:
            inner = get_type_hints(groups[name], include_extras=True)
            parameters += [
                inspect.Parameter(
                    field.name, parameter.KEYWORD_ONLY, default=field.default, annotation=inner[field.name]
                )
                for field in fields(groups[name])
            ]
        else:
            parameters.append(parameter.replace(kind=parameter.KEYWORD_ONLY, annotation=hints[name]))

    @wraps(command)
    def flattened(**given: Any) -> None:
        grouped = {
            name: kind(**{field.name: given.pop(field.name) for field in fields(kind)})
            for name, kind in groups.items()
        }
        command(**given, **grouped)

    told: Any = flattened
    told.__signature__ = inspect.Signature(parameters)
    told.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    del told.__wrapped__  # else its signature would be asked for
    return flattened
