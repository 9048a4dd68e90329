"""Files are written whole or not at all, and say in one line why not."""

import os
import stat

import pytest

from dosdt.errors import InputError
from dosdt.files import replacing, write_atomically


def test_text_and_bytes(tmp_path):
    write_atomically(tmp_path / "a.txt", "λ = 1\n")
    write_atomically(str(tmp_path / "b.bin"), b"\x00\xff")
    assert (tmp_path / "a.txt").read_bytes() == "λ = 1\n".encode()
    assert (tmp_path / "b.bin").read_bytes() == b"\x00\xff"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.txt", "b.bin"]


def test_replaces_the_old_content_and_keeps_its_permissions(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("a long old content")
    path.chmod(0o640)
    write_atomically(path, "new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path):
    (tmp_path / "plain").write_text("")
    write_atomically(tmp_path / "ours", "")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize("failure", [RuntimeError("no"), KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, failure):
    path = tmp_path / "a.txt"
    path.write_text("old")
    expected = InputError if isinstance(failure, OSError) else type(failure)

    def interrupted():
        with replacing(path) as temporary:
            temporary.write_text("half")
            assert temporary.parent == tmp_path
            raise failure

    with pytest.raises(expected):
        interrupted()
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def one_line(error, *parts):
    message = str(error.value)
    assert "\n" not in message
    for part in parts:
        assert part in message


def test_no_such_folder(tmp_path):
    with pytest.raises(InputError) as error:
        write_atomically(tmp_path / "no" / "a.txt", "x")
    one_line(error, "a.txt", "there is no folder")


def test_below_a_file(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError) as error:
        write_atomically(tmp_path / "file" / "a.txt", "x")
    one_line(error, "a.txt")


def test_onto_a_folder(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError) as error:
        write_atomically(tmp_path / "folder", "x")
    one_line(error, "it is a folder")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_permission_denied(tmp_path):
    read_only = tmp_path / "a.txt"
    read_only.write_text("old")
    read_only.chmod(0o444)
    with pytest.raises(InputError) as error:
        write_atomically(read_only, "x")
    one_line(error, "permission denied", "a.txt")
    assert read_only.read_text() == "old"


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "a.txt").write_text("old")
    (tmp_path / "link").symlink_to("a.txt")
    write_atomically(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "a.txt").read_text() == "new"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_atomically(pipe, "through")
        assert os.read(reader, 100) == b"through"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
