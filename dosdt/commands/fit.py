"""``dosdt fit``: from a table to its optimal tree."""

from __future__ import annotations

from typing import Any

from dosdt import options
from dosdt.commands.groups import Features, Limits, Output, Task, Team
from dosdt.errors import DataWarning, InputError


def fit(
    data: options.Data,
    *,
    regularization: options.Regularization = "0.01",
    task: Task,
    limits: Limits,
    algorithm: options.Algorithm = "subproblem",
    policy: options.Policy = "curiosity",
    without: options.Without = None,
    cold_start: options.ColdStart = False,
    team: Team,
    features: Features,
    checkpoint: options.SaveCheckpoint = None,
    checkpoint_seconds: options.CheckpointSeconds = 30.0,
    output: Output,
) -> None:
    """Find the optimal tree and prove it; Ctrl-C keeps the best so far."""
    import warnings

    from dosdt.inputs import bounds_without, is_large

    output.check(data, checkpoint=checkpoint)
    if output.quiet:
        warnings.simplefilter("ignore", DataWarning)
    wanted = task.named()
    bounds = bounds_without(without or [], algorithm)
    large = output.certificate is None and is_large(data)
    if large and features.drop:
        raise InputError(f"{data!r} is read in pieces, of which no column can be dropped; leave --drop out")
    table = None if large else features.table(data, task)
    target = task.target if table is None else str(table.y.name)

    from sklearn.exceptions import ConvergenceWarning

    from dosdt.classifier import DOSDTClassifier

    classifier = DOSDTClassifier(
        regularization,
        algorithm=algorithm,
        policy=policy,
        bounds=bounds,
        warm_start=not cold_start,
        binarizer=features.binarizer(target),
        verbose=output.verbose,
        **wanted,
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
            classifier.fit_parquet(data, target, weights=task.weights, **keeping)
        else:
            weigh = table.weights
            classifier.fit(table.X, table.y, sample_weight=weigh, certificate=output.certificate, **keeping)
    output.give(classifier, target)
