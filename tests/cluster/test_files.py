"""The files in `cluster/`: readable, closed to strangers, and the one that can be run here is."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import ray.autoscaler
import yaml
from cluster.ray_head import ROOT
from ray_team import gone

FOLDER = ROOT / "cluster"
SCRIPTS = ("slurm.sh", "two_nodes.sh")


def documents(name: str) -> list[Any]:
    return list(yaml.safe_load_all((FOLDER / name).read_text()))


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_are_shell(name: str) -> None:
    subprocess.run(["bash", "-n", FOLDER / name], check=True)
    assert os.access(FOLDER / name, os.X_OK)


@pytest.mark.parametrize("name", [*SCRIPTS, "aws.yaml"])
def test_every_node_has_a_token_and_no_open_dashboard(name: str) -> None:
    text = (FOLDER / name).read_text()
    assert "RAY_AUTH_MODE=token" in text
    assert re.search(r"--dashboard-host[= ]127\.0\.0\.1", text)
    assert "0.0.0.0" not in text


def test_scripts_keep_the_token_to_themselves() -> None:
    for name in SCRIPTS:
        text = (FOLDER / name).read_text()
        assert "umask 077" in text
        assert 'RAY_AUTH_TOKEN_PATH="$folder/token"' in text
        # It would stop the clusters of others, too.
        assert not re.search(r"^\s*[^#]*\bray stop\b", re.sub(r"#.*", "", text), re.MULTILINE)


def test_aws() -> None:
    (config,) = documents("aws.yaml")
    jsonschema = pytest.importorskip("jsonschema")
    schema = Path(ray.autoscaler.__file__).parent / "ray-schema.json"
    jsonschema.validate(config, json.loads(schema.read_text()))
    assert config["head_node_type"] in config["available_node_types"]
    assert config["available_node_types"]["worker"]["max_workers"] <= config["max_workers"]
    for commands in ("head_start_ray_commands", "worker_start_ray_commands"):
        started = [line for line in config[commands] if "ray start" in line]
        assert len(started) == 1
        assert "RAY_AUTH_MODE=token" in started[0]
    assert "/home/ubuntu/.ray/auth_token" in config["file_mounts"]


def test_kuberay() -> None:
    job, policy = documents("kuberay.yaml")
    assert (job["kind"], policy["kind"]) == ("RayJob", "NetworkPolicy")
    cluster = job["spec"]["rayClusterSpec"]
    assert cluster["authOptions"] == {"mode": "token"}
    assert tuple(map(int, cluster["rayVersion"].split(".")[:2])) >= (2, 52)
    assert cluster["headGroupSpec"]["serviceType"] == "ClusterIP"
    labels = policy["spec"]["podSelector"]["matchLabels"].items()
    templates = [cluster["headGroupSpec"]["template"], job["spec"]["submitterPodTemplate"]]
    templates += [group["template"] for group in cluster["workerGroupSpecs"]]
    for template in templates:
        assert labels <= template["metadata"]["labels"].items()


SEE = """
import json, os, psutil, ray
ray.init(address="auto", log_to_driver=False)
folder = os.path.dirname(os.environ["RAY_AUTH_TOKEN_PATH"])
seen = psutil.process_iter(["cmdline"])  # asked for so, one that ends meanwhile has none
ours = [process.pid for process in seen if folder in " ".join(process.info["cmdline"] or [])]
print(json.dumps([sum(node["Alive"] for node in ray.nodes()), ray.cluster_resources()["CPU"], ours]))
mode = os.stat(os.environ["RAY_AUTH_TOKEN_PATH"]).st_mode & 0o777
raise SystemExit(7 if mode == 0o600 else 1)
"""


def test_two_nodes() -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    environment["PYTHON"] = sys.executable
    before = set(Path("/tmp").glob("dosdt.*"))
    script = subprocess.run(
        [FOLDER / "two_nodes.sh", sys.executable, "-c", SEE],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert script.returncode == 7, script.stderr  # that of the command
    nodes, cpus, processes = json.loads(script.stdout)
    assert (nodes, cpus) == (2, 2.0)
    assert len(processes) >= 4
    assert [pid for pid in processes if not gone(pid)] == []
    assert "two nodes run at 127.0.0.1:" in script.stderr
    assert {path for path in set(Path("/tmp").glob("dosdt.*")) - before if (path / "second.log").exists()} == set()


def test_two_nodes_says_what_is_wrong(tmp_path: Path) -> None:
    broken = tmp_path / "python"
    broken.write_text(
        f'#!/bin/sh\ncase "$1" in *loopback.py) echo no ray; exit 1;; esac\nexec {sys.executable} "$@"\n'
    )
    broken.chmod(0o755)
    command = [FOLDER / "two_nodes.sh", "true"]
    script = subprocess.run(command, env=os.environ | {"PYTHON": str(broken)}, capture_output=True, text=True)
    assert script.returncode == 1
    assert "a node did not start; it said:\nno ray" in script.stderr
