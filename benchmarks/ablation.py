"""What every bound and both caches are worth, for both searches: the work with all of them, and without each.

For the subproblem search a tree is an expanded subset. If proved objectives differ, the exit code is 1.
"""

from __future__ import annotations

import argparse
import sys

from benchmarks import data, methods, results, studies
from benchmarks.common import guarded
from benchmarks.harness import Job, Record
from dosdt.errors import InputError
from dosdt.solver import SWITCHES

PAPER = {
    "nothing": ("14.70", "-", "1.01", "232,402", "16,001", "80"),
    "node_support": ("17.11", "1.16x", "1.09", "279,763", "18,880", "80"),
    "incremental_accuracy": ("30.16", "2.05x", "1.13", "546,402", "21,686", "80"),
    "accurate_support": ("31.83", "2.17x", "1.23", "475,691", "19,676", "90"),
    "lookahead": ("31,721", "2,158x", "187", "284,651,888", "3,078,274", "10,000"),
    "equivalent_points": ("> 12,475", "> 848x", "-", "> 77,000,000", "-", "> 64,000"),
}
"""What the paper prints for COMPAS at λ = 0.005, cold start, curiosity."""


def parse(arguments: list[str]) -> argparse.Namespace:
    """Return the options."""
    parser = studies.parser(__doc__)
    parser.add_argument("--algorithm", choices=list(SWITCHES), help="only this one")
    parser.add_argument("--without", action="append", metavar="BOUND", help="only this one; repeatable")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Print a table for every data set and search."""
    options = parse(arguments)
    algorithms = [options.algorithm] if options.algorithm else ["leafset", "subproblem"]
    known = [name for algorithm in algorithms for name in SWITCHES[algorithm]]
    for name in options.without or ():
        if name not in known:
            raise InputError(f"--without must be one of {', '.join(known)}; got {name!r}")
    cases = studies.cases(options)
    report = results.Report("ablation", "What every bound and both caches are worth", options)
    records: list[Record] = []
    for case in cases:
        for algorithm in algorithms:
            whole = {**case, "algorithm": algorithm}
            jobs = {"nothing": Job(methods.dosdt, whole)}
            for bound in SWITCHES[algorithm]:
                if bound in (options.without or known):
                    jobs[bound] = Job(methods.dosdt, {**whole, "without": [bound]})
            title = f"{data.title(case['data'])}, λ = {case['regularization']}, {algorithm} search"
            records += studies.study(report, title, "without", jobs, PAPER if algorithm == "leafset" else {})
    return studies.finish(report, records)


if __name__ == "__main__":
    sys.exit(guarded("ablation", main, sys.argv[1:]))
