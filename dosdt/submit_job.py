"""What `dosdt submit` runs on the cluster: ``python -m dosdt.submit_job MARKER NAMES fit ...``.

Ray's Jobs API gives back nothing but the log of a job. So the result and the files go there too, at the end, as
base64 in lines that begin with a marker that only this job and its client know; `Receiver` cuts them out again.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from dosdt.errors import InputError

RESULT = "result"
"""What `fit` printed; the files are called after their options, ``model`` and ``certificate``."""
_LINE = 4500  # bytes in one line: 6000 characters, well below what Ray takes for one message
_MOST = 2**31  # bytes of one file that the client takes


def main(argv: Sequence[str]) -> int:
    """Run a command of dosdt, then write what it printed and its files to the log; return its exit code.

    `argv` is the marker, the options of the files wanted with commas between them, and the command.
    """
    marker, names, command, *arguments = argv
    with tempfile.TemporaryDirectory() as folder:
        wanted = {name: Path(folder, name) for name in names.split(",") if name}
        options = [f"--{name}={path}" for name, path in wanted.items()]
        printed = Path(folder, RESULT)
        with open(printed, "wb") as stream:
            # A process of its own keeps everything that is printed there apart from the log.
            program = [sys.executable, "-m", "dosdt", command, *options, *arguments]
            code = subprocess.run(program, stdout=stream).returncode
        if code == 0:
            for name, path in {RESULT: printed, **wanted}.items():
                for line in lines(marker, name, path.read_bytes()):
                    os.write(1, line.encode("ascii"))  # whole lines, whatever else writes to the log
    return code


def lines(marker: str, name: str, content: bytes) -> Iterator[str]:
    """Return a file as lines of a log."""
    yield f"\n{marker} begin {name} {len(content)}\n"  # after a line that something may have left unfinished
    for start in range(0, len(content), _LINE):
        yield f"{marker} part {base64.b64encode(content[start : start + _LINE]).decode('ascii')}\n"
    yield f"{marker} end {hashlib.sha256(content).hexdigest()}\n"


class Receiver:
    """Takes a log in pieces of any length, and keeps the files that are in it apart from the rest."""

    def __init__(self, marker: str) -> None:
        self.files: dict[str, bytes] = {}
        self._marker = marker
        self._rest = ""
        self._name = ""
        self._size = 0
        self._parts = bytearray()

    def take(self, piece: str) -> list[str]:
        """Return the lines, complete by now, that people are to see."""
        *complete, self._rest = (self._rest + piece).split("\n")
        return [line for line in complete if not self._is_ours(line)]

    def close(self) -> list[str]:
        """Return what came after the last end of a line."""
        return self.take("\n") if self._rest else []

    def _is_ours(self, line: str) -> bool:
        if not line.startswith(self._marker + " "):
            return False
        _, kind, *words = line.split()
        try:
            if kind == "begin":
                self._name, self._size = words[0], int(words[1])
                self._parts.clear()
            elif kind == "part":
                self._parts += base64.b64decode(words[0], validate=True)
                if len(self._parts) > min(self._size, _MOST):
                    raise ValueError
            elif kind == "end":
                self._finish(words[0])
        except (ValueError, IndexError, binascii.Error):
            raise InputError(f"the {self._name or 'result'} came back damaged; submit the job again") from None
        return True

    def _finish(self, digest: str) -> None:
        content = bytes(self._parts)
        if len(content) != self._size or hashlib.sha256(content).hexdigest() != digest:
            raise ValueError
        self.files[self._name] = content


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
