"""Going on with a search from its checkpoint, without the data it was started with."""

from __future__ import annotations

import os
from fractions import Fraction
from typing import Any

from dosdt.binarizer import Binarizer
from dosdt.certificate import rows_of, write_certificate
from dosdt.checker.claims import Certificate, Refused
from dosdt.checker.reading import read_certificate
from dosdt.checkpoint import Checkpoint, CheckpointFile, check_checkpoint, read_checkpoint
from dosdt.classifier import DOSDTClassifier
from dosdt.errors import InputError
from dosdt.files import rehearse
from dosdt.limits import parse_limits
from dosdt.progress import progress
from dosdt.rules import Rule
from dosdt.solver import solve
from dosdt.teamwork import Teamwork, parse_workers


def resume(
    path: str | os.PathLike[str],
    *,
    n_jobs: int | None = None,
    ray_address: str | None = None,
    time_limit: Any = None,
    memory_limit: Any = None,
    evaluation_limit: Any = None,
    relative_gap: Any = Fraction(0),
    certificate: str | os.PathLike[str] | None = None,
    checkpoint_seconds: float = 30.0,
    log_file: str | os.PathLike[str] | None = None,
    verbose: bool = False,
) -> tuple[DOSDTClassifier, str | None]:
    """Go on with a search, and write further checkpoints to the same file.

    A `certificate` can be written if the search was started with one: others prove in ways that it cannot show.

    Returns
    -------
    DOSDTClassifier
        Fitted, as the search that was started would have been.
    str or None
        Name of the label column, if it had one.
    """
    team, workers = parse_workers(n_jobs, ray_address)
    limits = parse_limits(time_limit, memory_limit, evaluation_limit, relative_gap)
    known = read_checkpoint(path)
    check_checkpoint(path, checkpoint_seconds)
    if log_file is not None:
        rehearse(log_file)
    plan, problem, context = known.plan, known.problem, known.context
    claim = None if certificate is None else _claim(path, known)
    if certificate is not None:
        rehearse(certificate)
    try:
        rules = tuple(Rule(column, kind, value) for column, kind, value in context["rules"])
        columns = tuple(context["columns"])
        model = _model(known.plan.algorithm, plan.policy, problem.regularization, context, rules, columns)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"checkpoint {os.fspath(path)!r} does not say what its features are; start anew") from error
    records = known.records
    if plan.algorithm == "leafset" and known.limit < limits.wanted(known.solution.cost):
        records = []  # more is to be proved now than before, and what that takes was thrown away
    together = Teamwork(
        workers if team else 1,
        ray_address,
        CheckpointFile(path, problem, plan, context, checkpoint_seconds),
        records,
        alone_seconds=0.0 if records else Teamwork.alone_seconds,
    )
    with progress(verbose, problem, algorithm=plan.algorithm, team=team, log_file=log_file) as report:
        answer = solve(
            problem,
            algorithm=plan.algorithm,
            constraints=plan.constraints,
            limits=limits,
            policy=plan.policy,
            bounds=plan.switches,
            warm_start=False,
            certify=plan.certify,
            report=report,
            team=together,
            incumbent=known.solution,
        )
    model._keep(problem, answer, rules, columns)
    if certificate is not None and claim is not None:
        rows = rows_of(problem, plan.constraints.min_support)
        model.stats_ |= write_certificate(certificate, claim, rows, problem, answer)
    return model, context.get("target")


def _claim(path: str | os.PathLike[str], known: Checkpoint) -> Certificate:
    """Return what the certificate of a search begins with."""
    name = repr(os.fspath(path))
    if not known.plan.certify:
        raise InputError(
            f"checkpoint {name} is of a search without certificate, which proves in ways that none can show; "
            "fit again with --certificate and --checkpoint"
        )
    try:
        return read_certificate(known.context["certificate"])
    except (KeyError, TypeError, Refused) as error:
        raise InputError(f"checkpoint {name} does not hold what it should ({error}); start anew") from error


def _model(
    algorithm: str,
    policy: str,
    regularization: Fraction,
    context: Any,
    rules: tuple[Rule, ...],
    columns: tuple[str, ...],
) -> DOSDTClassifier:
    """Return a classifier that needs nothing more but an answer."""
    model = DOSDTClassifier(
        regularization,
        algorithm=algorithm,
        policy=policy,
        # Only whether there were any is known, and that is all that is shown of them.
        cost_matrix=() if context["costs"] else None,
        class_weight="balanced" if context["class_weights"] else None,
    )
    model.binarizer_ = Binarizer(missing=context["missing"] or "error")
    model.binarizer_.rules_, model.binarizer_.columns_ = rules, columns
    model.binarizer_.column_kinds_ = tuple(context["column_kinds"] or ("number",) * len(columns))
    model.binarizer_.column_types_ = tuple(context["kinds"] or ("bool",) * len(columns))
    return model
