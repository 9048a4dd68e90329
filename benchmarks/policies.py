"""Scheduling policies of the paper's search: which tree to expand next, and what that is worth.

The subproblem search has no such choice; it stands below for comparison. If proved objectives differ, the exit code
is 1.
"""

from __future__ import annotations

import argparse
import sys

from benchmarks import data, methods, results, studies
from benchmarks.common import guarded
from benchmarks.harness import Job, Record
from dosdt.leafset.policies import POLICIES

PAPER = {
    "curiosity": ("96", "-", "25", "241,306", "18,195", "80"),
    "objective": ("130", "1.35x", "57", "635,449", "423,627", "300"),
    "lower bound": ("186", "1.93x", "175", "1,714,011", "1,713,709", "780"),
    "entropy": ("671", "6.98x", "582", "5,381,467", "5,332,413", "4,900"),
    "Gini": ("646", "6.72x", "551", "5,381,001", "5,331,925", "4,900"),
}
"""What the paper's source has for COMPAS at λ = 0.005, cold start; the printed paper leaves this table out."""


def parse(arguments: list[str]) -> argparse.Namespace:
    """Return the options."""
    parser = studies.parser(__doc__)
    parser.add_argument("--policies", nargs="+", default=list(POLICIES), choices=list(POLICIES), metavar="NAME")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Print a table for every data set."""
    options = parse(arguments)
    cases = studies.cases(options)
    report = results.Report("policies", "Scheduling policies", options)
    records: list[Record] = []
    for case in cases:
        jobs = {
            policy: Job(methods.dosdt, {**case, "algorithm": "leafset", "policy": policy})
            for policy in options.policies
        }
        jobs["subproblem search"] = Job(methods.dosdt, case)
        title = f"{data.title(case['data'])}, λ = {case['regularization']}"
        records += studies.study(report, title, "policy", jobs, PAPER)
    return studies.finish(report, records)


if __name__ == "__main__":
    sys.exit(guarded("policies", main, sys.argv[1:]))
