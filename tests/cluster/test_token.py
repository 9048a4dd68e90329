"""Token authentication: who does not know the token does not get in, by no door."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import psutil
import pytest
from cluster.ray_head import Head, ray_head

CONNECT = "import ray, sys; ray.init(address=sys.argv[1], log_to_driver=False); print(ray.cluster_resources()['CPU'])"
JOBS = """
import sys, time
from ray.job_submission import JobSubmissionClient

client = JobSubmissionClient(sys.argv[1])
for attempt in range(30):
    try:
        print(client.submit_job(entrypoint="true"))
        break
    except RuntimeError as error:
        if "No available agent" not in str(error):  # which is so while a cluster starts
            raise
        time.sleep(1)
"""


@pytest.fixture(scope="module")
def head() -> Iterator[Head]:
    with ray_head() as running:
        yield running


def client(code: str, address: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, address]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)


def strangers(head: Head) -> dict[str, dict[str, str]]:
    return {
        "without a token": head.stranger | {"RAY_AUTH_MODE": "disabled"},
        "with a wrong token": head.stranger | {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "0" * 64},
    }


def test_the_token_opens(head: Head) -> None:
    driver = client(CONNECT, head.address, head.environment)
    assert driver.stdout == "1.0\n", driver.stderr
    job = client(JOBS, head.dashboard, head.environment)
    assert job.stdout.startswith("raysubmit_"), job.stderr


@pytest.mark.parametrize("who", ["without a token", "with a wrong token"])
def test_nothing_else_does(head: Head, who: str) -> None:
    environment = strangers(head)[who]
    for code, address in ((CONNECT, head.address), (JOBS, head.dashboard)):
        refused = client(code, address, environment)
        assert refused.returncode != 0
        assert refused.stdout == ""
        assert "AuthenticationError" in refused.stderr, refused.stderr


def test_no_port_is_open_to_others(head: Head) -> None:
    node = psutil.Process(head.process.pid)
    family = {node.pid, *(child.pid for child in node.children(recursive=True))}
    listening = {
        connection.laddr.ip
        for connection in psutil.net_connections("tcp")
        if connection.pid in family and connection.status == psutil.CONN_LISTEN
    }
    assert listening
    assert listening <= {"127.0.0.1", "::1", "::ffff:127.0.0.1"}
