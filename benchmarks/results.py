"""What an experiment leaves behind: a Markdown page, its numbers as JSON, and figures as SVG and PNG."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable
from io import StringIO
from pathlib import Path
from typing import Any

from benchmarks.common import header, line, machine, number
from benchmarks.harness import Limits, Record, versions
from dosdt.errors import InputError
from dosdt.files import write_atomically

FOLDER = "results"
STEMS = "stems of CSV files in DOSDT_DATA"
DATA: dict[str, dict[str, Any]] = {
    "names": {"help": f"{STEMS}; default: the paper's seven"},
    "penalties": {"metavar": "NAME[=λ]", "help": f"{STEMS}, each with its λ if need be; default: the paper's"},
}
"""How an experiment can be told its data sets: by name, or by name with λ."""


def parser(description: str | None, *, seconds: float = 60.0, data: str | None = None) -> argparse.ArgumentParser:
    """Return a parser with the options that experiments share; `data` is a key of `DATA`."""
    answer = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    if data:
        answer.add_argument("data", nargs="*", **DATA[data])
    answer.add_argument("--results", default=FOLDER, metavar="FOLDER", help=f"default: {FOLDER}")
    answer.add_argument("--time-limit", type=float, default=seconds, metavar="SECONDS", help="per run")
    answer.add_argument("--memory-limit", type=float, default=8.0, metavar="GB", help="per run; default: 8")
    answer.add_argument("--repeat", type=int, default=1, metavar="N", help="runs of each, the fastest counts")
    answer.add_argument("--jobs", type=int, default=1, metavar="N", help="runs at a time; seconds are rougher then")
    return answer


def limits(options: argparse.Namespace) -> Limits:
    """Return the limits that were asked for."""
    if options.repeat < 1 or options.jobs < 1:
        raise InputError("--repeat and --jobs must be 1 or more")
    return Limits(options.time_limit, options.memory_limit, options.repeat)


def make_folder(name: str) -> Path:
    """Return the folder for results, made if need be."""
    try:
        Path(name).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write results to {name!r}: {error.strerror or error}") from None
    return Path(name)


class Report:
    """One experiment's page, said and written; use `finish` at the end."""

    def __init__(self, name: str, title: str, options: argparse.Namespace) -> None:
        self.name, self.title = name, title
        self.folder = make_folder(options.results)
        self.machine = machine()
        self.limits = limits(options)
        self.at_once = options.jobs
        self._parts: list[str] = []
        self.say(f"# {title}")
        within = f"{self.limits.seconds:g} s and {self.limits.gigabytes:g} GB a run"
        self.say(f"{self.machine}. Within {within}, best of {self.limits.repeat}, {self.at_once} at a time.")

    def say(self, text: str) -> None:
        """Add a paragraph; nothing is added for an empty text."""
        if text:
            self._parts.append(text)
            print(f"{text}\n", flush=True)

    def table(self, titles: list[str], rows: Iterable[list[str]], *, words: int) -> None:
        """Add a table; the first so many columns hold words, the others numbers."""
        self.say("\n".join([header(titles, words=words), *(line(row) for row in rows)]))

    def figure(self, figure: Any, name: str = "", title: str = "") -> None:
        """Write a figure beside the page, and show it there."""
        import matplotlib.pyplot as plt

        stem = f"{self.name}-{name}" if name else self.name
        figure.savefig(self.folder / f"{stem}.png", dpi=110)
        drawn = StringIO()
        figure.savefig(drawn, format="svg", metadata={"Date": None})
        write_atomically(self.folder / f"{stem}.svg", smaller(drawn.getvalue()))
        plt.close(figure)
        self.say(f"![{title or self.title}]({stem}.svg)")

    def finish(self, records: list[Record], **more: Any) -> int:
        """Write the page and the numbers; return 1 if a run failed for a reason other than a limit, else 0."""
        failed = [record for record in records if str(record.get("status", "")).startswith("failed")]
        if failed:
            reasons = sorted({str(record["status"]) for record in failed})
            self.say(f"{len(failed)} runs of {len(records)} failed: {'; '.join(reasons)}")
        document = {
            "experiment": self.name,
            "title": self.title,
            "machine": self.machine,
            "versions": versions(),
            "limits": self.limits._asdict(),
            "records": records,
            **more,
        }
        write_atomically(self.folder / f"{self.name}.json", json.dumps(document, indent=1))
        write_atomically(self.folder / f"{self.name}.md", "\n\n".join(self._parts) + "\n")
        return 1 if failed else 0


def smaller(svg: str) -> str:
    """Return a drawing without indentation and comments, places to a hundredth of a point, as fine as anyone sees."""
    plain = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    return re.sub(r"(\d\d\.\d\d)\d+", r"\1", re.sub(r"\n\s+", "\n", plain))


def seconds(record: Record) -> str:
    """Return how long a run took, or that it was cut short."""
    if "seconds" not in record or str(record.get("status")).startswith("failed"):
        return "-"
    sign = "> " if record["status"] not in ("optimal", "greedy") else ""
    return sign + number(record["seconds"])


def percent(value: float | None, digits: int = 2) -> str:
    """Return a share in per cent."""
    return "-" if value is None else f"{100 * value:.{digits}f}"
