"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dosdt.errors import InputError


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside `path`; what is written there replaces `path` when the block ends.

    Any error removes the temporary file and leaves `path` as it was; an `OSError` becomes an `InputError`.
    """
    given = Path(path)
    # A link keeps pointing where it did: its target is what gets replaced.
    target = Path(os.path.realpath(given))
    temporary: Path | None = None
    try:
        if target.is_dir():
            raise IsADirectoryError("it is a folder")
        # A device or a pipe, such as /dev/stdout, cannot be renamed over: it gets the content at the end.
        stream = given.exists() and not given.is_file()
        folder = Path(tempfile.gettempdir()) if stream else target.parent
        if not folder.is_dir():
            raise FileNotFoundError(f"there is no folder {str(given.parent)!r}")
        # Renaming would go round the read-only mark that plain writing respects.
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError("permission denied")
        fresh = folder / f".dosdt-{secrets.token_hex(8)}.tmp"
        with open(fresh, "xb"):
            temporary = fresh
        yield temporary
        if stream:
            given.write_bytes(temporary.read_bytes())
        else:
            _settle(temporary, target)
            temporary = None
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot write {str(given)!r}: {reason}; choose another path") from error
    finally:
        if temporary is not None:
            with suppress(OSError):
                temporary.unlink()


def write_atomically(path: str | os.PathLike[str], data: bytes | str) -> None:
    """Write `data` (text as UTF-8) to `path`, which holds either its old content or all of the new."""
    with replacing(path) as temporary:
        temporary.write_bytes(data.encode("utf-8") if isinstance(data, str) else data)


class _Rehearsal(Exception):  # noqa: N818 - it is no error
    pass


def rehearse(path: str | os.PathLike[str]) -> None:
    """Refuse a path that could not be written later."""
    if not os.path.basename(path):
        raise InputError(f"cannot write {os.fspath(path)!r}: it names a folder; choose another path")
    # Going through the motions finds out what asking for permissions cannot, such as a full disk.
    with suppress(_Rehearsal), replacing(path):
        raise _Rehearsal


def _settle(temporary: Path, target: Path) -> None:
    """Move the finished file into place with the permissions of the one it replaces."""
    # The content must be on the disk before the rename is: a crash must not leave an empty file.
    with open(temporary, "rb+") as file:
        os.fsync(file.fileno())
    if target.exists():
        os.chmod(temporary, target.stat().st_mode & 0o777)
    os.replace(temporary, target)
