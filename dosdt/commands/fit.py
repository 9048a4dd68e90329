"""``dosdt fit``: from a table to its optimal tree."""

from __future__ import annotations

from typing import Any

from dosdt import options
from dosdt.commands.groups import Limits, Output, Team
from dosdt.errors import DataWarning, InputError


def fit(
    data: options.Data,
    *,
    target: options.Target = None,
    regularization: options.Regularization = "0.01",
    class_weight: options.ClassWeight = None,
    cost_matrix: options.CostMatrix = None,
    weights: options.Weights = None,
    max_depth: options.MaxDepth = None,
    max_leaves: options.MaxLeaves = None,
    min_support: options.MinSupport = None,
    limits: Limits,
    algorithm: options.Algorithm = "subproblem",
    policy: options.Policy = "curiosity",
    without: options.Without = None,
    cold_start: options.ColdStart = False,
    team: Team,
    drop: options.Drop = None,
    categories: options.Categories = None,
    max_categories: options.MaxCategories = 50,
    missing: options.Missing = "error",
    thresholds: options.Thresholds = None,
    max_thresholds: options.MaxThresholds = None,
    checkpoint: options.SaveCheckpoint = None,
    checkpoint_seconds: options.CheckpointSeconds = 30.0,
    output: Output,
) -> None:
    """Find the optimal tree and prove it; Ctrl-C keeps the best so far."""
    import warnings

    from dosdt.inputs import bounds_without, is_large, parse_costs, training_data

    output.check(data, checkpoint=checkpoint)
    if output.quiet:
        warnings.simplefilter("ignore", DataWarning)
    costs = None if cost_matrix is None else parse_costs(cost_matrix)
    bounds = bounds_without(without or [], algorithm)
    named = categories or []
    large = output.certificate is None and is_large(data)
    if large and drop:
        raise InputError(f"{data!r} is read in pieces, of which no column can be dropped; leave --drop out")
    table = None if large else training_data(data, target=target, weights=weights, drop=drop or [], text=named)

    from sklearn.exceptions import ConvergenceWarning

    from dosdt.binarizer import Binarizer
    from dosdt.classifier import DOSDTClassifier

    classifier = DOSDTClassifier(
        regularization,
        algorithm=algorithm,
        max_depth=max_depth,
        max_leaves=max_leaves,
        min_support=min_support,
        policy=policy,
        bounds=bounds,
        warm_start=not cold_start,
        class_weight=class_weight,
        cost_matrix=costs,
        binarizer=Binarizer(
            thresholds=thresholds or ("auto" if max_thresholds is None else "quantile"),
            max_thresholds=max_thresholds,
            missing=missing,
            categories=[name for name in named if name != (target if table is None else table.y.name)],
            max_categories=max_categories,
        ),
        verbose=output.verbose,
        **limits.named(),
        **team.named(),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the status says it
        keeping: dict[str, Any] = {
            "checkpoint": checkpoint,
            "checkpoint_seconds": checkpoint_seconds,
            "log_file": output.log_file,
        }
        if table is None:
            classifier.fit_parquet(data, target, weights=weights, **keeping)
        else:
            target = str(table.y.name)
            weigh = table.weights
            classifier.fit(table.X, table.y, sample_weight=weigh, certificate=output.certificate, **keeping)
    output.give(classifier, target)
