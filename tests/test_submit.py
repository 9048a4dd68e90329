"""`dosdt submit`: what it sends, what it makes of what comes back, and once with a real Ray cluster."""

from __future__ import annotations

import json
import os
import random
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer
from cluster.ray_head import Head, free_ports, ray_head

from dosdt import InputError, cli, submit_client, submit_job
from dosdt.submit import LARGEST_UPLOAD, entrypoint, fit_call, fit_command, register, upload
from dosdt.submit_job import RESULT, Receiver, lines

MARKER = "dosdt-0123456789abcdef"


def registered() -> None:
    """Make the command known, if it is not yet."""
    if all(command.callback.__name__ != "submit" for command in cli.app.registered_commands if command.callback):
        register(cli.app)


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    registered()
    capsys.readouterr()
    code = cli.main(["submit", *map(str, arguments)])
    return (code, *capsys.readouterr())


def refusal(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("dosdt: error: ")
    assert len(err.splitlines()) == 1
    return err


# Files in a log


@pytest.mark.parametrize("size", [0, 1, 4499, 4500, 4501, 100_000])
def test_files_come_back_however_the_log_is_cut(size: int) -> None:
    rng = random.Random(size)
    files = {"model": rng.randbytes(size), RESULT: b"status optimal\n"}
    log = "before\nhalf a line"
    for name, content in files.items():
        log += "".join(lines(MARKER, name, content)) + "between\n"
    receiver, seen, start = Receiver(MARKER), [], 0
    while start < len(log):
        step = rng.choice([1, 7, 5000])
        seen += receiver.take(log[start : start + step])
        start += step
    assert receiver.files == files
    assert [line for line in seen + receiver.close() if line] == ["before", "half a line", "between", "between"]


def test_lines_are_short_and_plain() -> None:
    for line in lines(MARKER, "model", os.urandom(50_000)):
        assert len(line) < 7000
        assert line.isascii()


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.replace("end ", "end 0", 1),
        lambda text: text.replace("part ", "part *", 1),
        lambda text: text.replace("begin model 9000", "begin model 9001"),
        lambda text: text.replace("begin model 9000", "begin model 10"),
        lambda text: text.replace("begin model 9000", "begin"),
        lambda text: "\n".join(line for place, line in enumerate(text.split("\n")) if place != 2),
    ],
)
def test_damage_is_noticed(damage: Any) -> None:
    text = damage("".join(lines(MARKER, "model", bytes(9000))))
    with pytest.raises(InputError, match="came back damaged; submit the job again"):
        Receiver(MARKER).take(text)


def test_another_marker_means_nothing() -> None:
    receiver = Receiver(MARKER)
    foreign = "".join(lines("dosdt-ffff", "model", b"evil"))
    assert len(receiver.take(foreign)) == 4
    assert receiver.files == {}


def test_the_job_sends_its_files(capfd: pytest.CaptureFixture[str]) -> None:
    code = submit_job.main([MARKER, "model,certificate", *fit_command("monk1", ["--regularization=0.02"])])
    log = capfd.readouterr().out
    receiver = Receiver(MARKER)
    assert [line for line in receiver.take(log) if line] == []
    assert code == 0
    assert set(receiver.files) == {RESULT, "model", "certificate"}
    assert receiver.files[RESULT].startswith(b"status      optimal")
    assert json.loads(receiver.files["model"])


def test_a_job_that_fails_sends_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    assert submit_job.main([MARKER, "model", *fit_command("nothing.csv", [])]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("dosdt: error: there is no file 'nothing.csv'")


# What is sent


def test_the_arguments_are_those_of_fit() -> None:
    given = ["--regularization", "0.02", "a b.csv", "--json", "--without", "cache", "--without=similarity"]
    call = fit_call([*given, "--model", "m.json", "--target", "-x"])
    assert call.data == "a b.csv"
    assert call.outputs == {"model": "m.json"}
    assert sorted(call.options) == [
        "--json",
        "--regularization=0.02",
        "--target=-x",
        "--without=cache",
        "--without=similarity",
    ]
    assert not call.quiet
    again = fit_call(fit_command(call.data, call.options)[1:])
    assert (again.data, again.options) == (call.data, call.options)


def test_a_log_file_would_be_on_the_cluster() -> None:
    with pytest.raises(InputError, match="the log comes on stderr"):
        fit_call(["monk1", "--log-file", "run.log"])


def test_workers_search_on_the_cluster_of_the_job() -> None:
    app = typer.Typer()

    @app.command()
    def fit(data: str, workers: int | None = None, ray_address: str | None = None) -> None: ...

    @app.command()
    def other() -> None: ...

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cli, "app", app)
        assert fit_call(["monk1"]).options == ()
        assert fit_call(["monk1", "--workers", "4"]).options == ("--workers=4", "--ray-address=auto")
        named = fit_call(["monk1", "--workers", "4", "--ray-address", "h:1"])
        assert named.options == ("--workers=4", "--ray-address=h:1")


@pytest.mark.parametrize("name", ["a b.csv", "$(touch x).csv", "it's.csv", "-rf", ";ls", "ä\n.csv", '"'])
def test_the_shell_takes_every_name_as_it_is(name: str) -> None:
    line = entrypoint(MARKER, ["model"], fit_command(name, ["--target=$HOME"]))
    words = shlex.split(line)
    assert words == ["python", "-m", "dosdt.submit_job", MARKER, "model", "fit", "--target=$HOME", "--", name]
    printed = subprocess.run(["sh", "-c", f"printf '%s\\0' {line}"], capture_output=True, check=True).stdout
    assert printed.decode().split("\0")[:-1] == words


def test_files_are_copied_for_the_job(tmp_path: Path) -> None:
    (tmp_path / "job").mkdir()
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    assert upload(str(tmp_path / "t.csv"), tmp_path / "job") == "data/t.csv"
    assert (tmp_path / "job/data/t.csv").read_text() == "a,b\n1,2\n"


def test_folders_are_copied_for_the_job(tmp_path: Path) -> None:
    table, job = tmp_path / "table", tmp_path / "job"
    table.mkdir()
    job.mkdir()
    for name in ("1.parquet", "2.PQ", "_SUCCESS"):
        (table / name).write_bytes(b"x")
    assert upload(f"{table}/", job) == "data/table"
    assert sorted(part.name for part in (job / "data/table").iterdir()) == ["1.parquet", "2.PQ"]


def test_names_of_data_sets_are_not_uploaded(tmp_path: Path) -> None:
    assert upload("monk1", tmp_path) == "monk1"
    assert list(tmp_path.iterdir()) == []


# What is refused before anything is sent


def test_what_is_wrong_here_is_refused_here(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    nowhere = f"http://127.0.0.1:{free_ports(1)[0]}"
    data = tmp_path / "t.csv"
    data.write_text("a,b\n1,2\n")
    assert "Missing option '--address'" in refusal(capsys, "monk1")
    assert "Missing argument 'DATA'" in refusal(capsys, "--address", nowhere)
    assert "No such option: --regularisation" in refusal(capsys, "monk1", "--address", nowhere, "--regularisation=1")
    missing = refusal(capsys, "gone.csv", "--address", nowhere)
    assert "there is no file 'gone.csv'" in missing
    assert "pass --on-cluster" in missing
    assert "would overwrite the input" in refusal(capsys, data, "--address", nowhere, "--model", data)
    folder = refusal(capsys, data, "--address", nowhere, "--model", tmp_path / "no/m.json")
    assert "there is no folder" in folder
    both = refusal(capsys, data, "--address", nowhere, "--model", tmp_path / "m", "--certificate", tmp_path / "m")
    assert "cannot hold both" in both
    assert "is a folder without .parquet files" in refusal(capsys, tmp_path, "--address", nowhere)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.csv"]


def test_large_files_are_not_uploaded(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    large = tmp_path / "large.csv"
    with open(large, "wb") as stream:
        stream.truncate(LARGEST_UPLOAD + 1)
    said = refusal(capsys, large, "--address", "http://127.0.0.1:1")
    assert "more than the 200 MB" in said
    assert "--on-cluster" in said


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1:8265", "ray://127.0.0.1:10001", "os://x", "http://", "http://h:x", "http://h:99999", "", "auto"],
)
def test_addresses_are_checked(capsys: pytest.CaptureFixture[str], address: str) -> None:
    assert "--address must be the head node's dashboard" in refusal(capsys, "monk1", "--address", address)


def test_nobody_listens(capsys: pytest.CaptureFixture[str]) -> None:
    address = f"http://127.0.0.1:{free_ports(1)[0]}"
    said = refusal(capsys, "monk1", "--address", address)
    assert f"cannot reach '{address}': Connection refused" in said
    assert "cannot reach" in refusal(capsys, "monk1", "--address", "http://no-such-host.invalid:8265")


def test_ray_may_lack_the_jobs_api(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray.job_submission", None)
    assert "pip install 'dosdt[cluster]'" in refusal(capsys, "monk1", "--address", "http://127.0.0.1:8265")


def test_another_server_is_no_cluster(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    port = free_ports(1)[0]
    command = [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1", "--directory", str(tmp_path)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        address = f"http://127.0.0.1:{port}"
        for _ in range(100):
            said = refusal(capsys, "monk1", "--address", address)
            if "cannot reach" not in said:
                break
            time.sleep(0.1)
        assert f"{address} does not answer as a Ray cluster" in said
    finally:
        server.terminate()
        server.wait()


# What comes back, from a client that only pretends


class Pretender:
    """A cluster whose job has this log; the connection breaks after each of the pieces but the last."""

    def __init__(self, pieces: list[str], status: str = "SUCCEEDED", **info: Any) -> None:
        self.pieces = pieces
        self.info = SimpleNamespace(**({"message": "", "driver_exit_code": None} | info))
        self.status = status
        self.reads = 0
        self.stopped: list[str] = []

    def get_address(self) -> str:
        return "http://pretended"

    def submit_job(self, *, entrypoint: str, runtime_env: Any, metadata: Any) -> str:
        marker = shlex.split(entrypoint)[3]
        self.pieces = [piece.replace(MARKER, marker) for piece in self.pieces]
        return "job-1"

    async def tail_job_logs(self, job: str) -> Any:
        self.reads += 1
        for piece in self.pieces[: self.reads]:
            yield piece
        if self.reads < len(self.pieces):
            raise RuntimeError("WebSocket connection closed unexpectedly")

    def get_job_info(self, job: str) -> Any:
        self.info.status = self.status if self.reads >= len(self.pieces) else "RUNNING"
        return self.info

    def stop_job(self, job: str) -> None:
        self.stopped.append(job)
        self.reads = len(self.pieces)


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submit_client, "time", SimpleNamespace(sleep=lambda _: None))


def test_a_broken_connection_is_taken_up_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = "one\ntwo\n" + "".join(lines(MARKER, RESULT, b"done")) + "".join(lines(MARKER, "model", bytes(10_000)))
    # Cut where a marker has not the length that it will have.
    pieces = ["one\ntw", "o\n", log[len("one\ntwo\n") :]]
    files = submit_client.run(Pretender(pieces), ["fit"], ["model"], str(tmp_path), quiet=False)
    assert files == {RESULT: b"done", "model": bytes(10_000)}
    said = capsys.readouterr().err
    assert said == "dosdt: submitted job-1 to http://pretended\none\ntwo\n"


def test_a_cluster_may_still_be_starting(tmp_path: Path) -> None:
    class Starting(Pretender):
        attempts = 0

        def submit_job(self, **job: Any) -> str:
            self.attempts += 1
            if self.attempts < 4:
                raise RuntimeError("Request failed with status code 500: No available agent to submit job")
            return super().submit_job(**job)

    client = Starting(["".join(lines(MARKER, RESULT, b"done"))])
    assert submit_client.run(client, ["fit"], [], str(tmp_path), quiet=True) == {RESULT: b"done"}
    never = Starting([""])
    never.attempts = -1000
    with pytest.raises(InputError, match="No available agent"):
        submit_client.run(never, ["fit"], [], str(tmp_path), quiet=True)


def test_quiet_shows_no_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    client = Pretender(["noise\n" + "".join(lines(MARKER, RESULT, b"done"))])
    assert submit_client.run(client, ["fit"], [], str(tmp_path), quiet=True) == {RESULT: b"done"}
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("client", "message"),
    [
        (Pretender(["dosdt: error: column 'a' is odd\n"], "FAILED", driver_exit_code=2), "^column 'a' is odd$"),
        (Pretender(["Traceback\n"], "FAILED", driver_exit_code=1), "job-1 failed on the cluster: exit code 1; "),
        (Pretender([""], "FAILED", driver_exit_code=-9), "killed, perhaps for want of memory"),
        (Pretender([""], "FAILED", message="no\nenvironment"), "failed on the cluster: no environment; "),
        (Pretender([""], "STOPPED"), "job-1 was stopped on the cluster; there is no result"),
        (Pretender(["fine\n"]), "its log lacks the model and the result"),
        (Pretender([""] * 99), "does not answer as a Ray cluster: WebSocket"),
    ],
)
def test_failures_are_one_line(client: Pretender, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message) as error:
        submit_client.run(client, ["fit"], ["model"], str(tmp_path), quiet=True)
    assert len(str(error.value).splitlines()) == 1


def test_ctrl_c_stops_the_job(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    class Interrupted(Pretender):
        async def tail_job_logs(self, job: str) -> Any:
            yield "working\n"
            signal.raise_signal(signal.SIGINT)
            yield "not seen\n"

    client = Interrupted(["", ""], "STOPPED")
    with pytest.raises(typer.Exit) as ended:
        submit_client.run(client, ["fit"], [], str(tmp_path), quiet=False)
    assert ended.value.exit_code == 130
    assert client.stopped == ["job-1"]
    assert capsys.readouterr().err.endswith("dosdt: stopped job-1; there is no result\n")


# With a real cluster


REGISTER = (
    "import sys; from dosdt import cli; from dosdt.submit import register;"
    "names = [command.callback.__name__ for command in cli.app.registered_commands];"
    "'submit' in names or register(cli.app); sys.exit(cli.main())"
)


def shell(head: Head, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", REGISTER, "submit", *map(str, arguments), "--address", head.dashboard]
    return subprocess.run(command, env=head.environment | environment, capture_output=True, text=True, timeout=90)


@pytest.fixture(scope="module")
def head() -> Iterator[Head]:
    with ray_head() as running:
        yield running


def test_a_real_cluster_fits(head: Head, tmp_path: Path) -> None:
    model, certificate = tmp_path / "model.json", tmp_path / "proof"
    outputs = ("--model", model, "--certificate", certificate)
    # An address in the environment must not win over the one that was given.
    elsewhere = {"RAY_ADDRESS": "http://127.0.0.1:1"}
    done = shell(head, "monk1", "--regularization", "0.02", *outputs, "--json", **elsewhere)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["objective"] == "7/50"
    assert dosdt_says("verify", certificate, "monk1") == "verified: objective 7/50 is optimal (19 facts)\n"
    assert dosdt_says("show", model).startswith("jacket")


def test_a_real_cluster_takes_files(head: Head, tmp_path: Path) -> None:
    data = tmp_path / "it's $data.csv"
    data.write_text("a,b,label\n" + "".join(f"{a},{b},{a * b}\n" for a in (0, 1) for b in (0, 1)) * 5)
    uploaded = shell(head, data, "--regularization", "0.05", "--quiet")
    assert uploaded.returncode == 0, uploaded.stderr
    assert "errors      0 of 20" in uploaded.stdout
    assert uploaded.stderr == ""


def test_a_real_cluster_refuses(head: Head) -> None:
    absent = shell(head, "/no/such.csv", "--on-cluster", "--quiet")
    assert absent.returncode == 2
    assert absent.stderr.startswith("dosdt: error: there is no file '/no/such.csv'")
    assert len(absent.stderr.splitlines()) == 1

    wrong = shell(head, "monk1", RAY_AUTH_TOKEN="wrong" * 8)
    assert wrong.returncode == 2
    assert "refuses the token; set RAY_AUTH_MODE=token" in wrong.stderr
    assert len(wrong.stderr.splitlines()) == 1


def test_ctrl_c_stops_a_real_job(head: Head, tmp_path: Path) -> None:
    rng = random.Random(7)
    data = tmp_path / "hard.csv"  # its proof takes far longer than any test
    rows = (",".join(rng.choice("01") for _ in range(26)) for _ in range(400))
    data.write_text("\n".join([",".join(f"f{j}" for j in range(26)), *rows, ""]))
    command = [sys.executable, "-c", REGISTER, "submit", str(data), "--regularization", "0.0001"]
    process = subprocess.Popen(
        [*command, "--address", head.dashboard], env=head.environment, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    assert process.stderr.readline().startswith("dosdt: submitted ")
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    said = process.stderr.read()
    assert process.wait(60) == 130
    assert said.endswith("; there is no result\n")
    assert "Traceback" not in said


def dosdt_says(*arguments: object) -> str:
    command = [sys.executable, "-m", "dosdt", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
