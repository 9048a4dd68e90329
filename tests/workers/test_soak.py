"""A dozen runs in which workers, shards and nodes are killed; `make soak` does two hundred."""

from __future__ import annotations

import pytest
import soak


def test_a_dozen_runs_survive(capsys: pytest.CaptureFixture[str]) -> None:
    kills, failures = soak.soak(12, seed=100)
    with capsys.disabled():
        print(f"\n12 fault runs: killed {dict(kills)}, {len(failures)} failed")
    assert not failures, capsys.readouterr().out
    assert kills["worker"] > 0
    assert kills["shard"] > 0
