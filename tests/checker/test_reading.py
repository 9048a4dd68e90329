"""Files that are cut off, damaged or made to do harm: one line, no crash, and memory linear in the file's size."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgpack
import pytest
from certified import Case, case, payload, sealed

from dosdt.certificate import to_bytes
from dosdt.checker.claims import LARGEST, Certificate, Refused
from dosdt.checker.reading import read_certificate


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Case:
    """Return a problem whose proof has facts that cite others, under both limits."""
    folder = tmp_path_factory.mktemp("certificates")
    for seed in range(5000, 5200):
        made = case(seed, folder, max_depth=4, max_leaves=5, evaluation_limit=None)
        if sum(bool(fact.cites) for fact in made.certificate.facts) > 2:
            return made
    raise AssertionError("there is one")


@pytest.fixture
def content(found: Case) -> bytes:
    return found.path.read_bytes()


def refusal(content: bytes) -> str:
    with pytest.raises(Refused) as refused:
        read_certificate(content)
    message = str(refused.value)
    assert "\n" not in message
    assert len(message) < 300
    return message


def test_writing_and_reading_are_inverse(content: bytes) -> None:
    certificate = read_certificate(content)
    assert isinstance(certificate, Certificate)
    assert to_bytes(certificate) == content


def test_truncated_at_every_length(content: bytes) -> None:
    for length in range(len(content)):
        refusal(content[:length])


def test_truncated_payload_with_a_checksum_that_fits(content: bytes) -> None:
    inner = msgpack.unpackb(content)["payload"]
    for length in range(0, len(inner), 7):
        refusal(sealed(inner[:length]))
    assert refusal(content + b"\x00") == "the file has more bytes than its content"
    assert refusal(sealed(inner + b"\x00")) == "field 'payload' has more bytes than its content"


def test_every_byte_damaged(content: bytes) -> None:
    """The checksum catches all of it; without one, whatever is read is still a certificate or a refusal."""
    inner = msgpack.unpackb(content)["payload"]
    rng = random.Random(0)
    for place in range(len(content)):
        refusal(content[:place] + bytes([content[place] ^ rng.randint(1, 255)]) + content[place + 1 :])
    for place in range(0, len(inner), 3):
        damaged = inner[:place] + bytes([inner[place] ^ rng.randint(1, 255)]) + inner[place + 1 :]
        with suppress(Refused):
            assert isinstance(read_certificate(sealed(damaged)), Certificate)


def test_damaged_payloads_end_in_a_verdict(found: Case) -> None:
    """Also when a checksum fits and the data are looked at."""
    content = found.path.read_bytes()
    inner = msgpack.unpackb(content)["payload"]
    rng = random.Random(1)
    for _ in range(200):
        place = rng.randrange(len(inner))
        damaged = inner[:place] + bytes([inner[place] ^ rng.randint(1, 255)]) + inner[place + 1 :]
        assert found.verdict(sealed(damaged)).message.startswith(("verified: ", "refused: "))
    found.path.write_bytes(content)


NESTED = {
    "arrays": b"\x91" * 100_000 + b"\x00",
    "maps": b"\x81\xa1a" * 100_000 + b"\x00",
    "arrays that claim 4 billion entries": b"\xdd\xff\xff\xff\xff" * 1000,
    "arrays that claim as many entries as there are bytes": b"\xdd\x00\x00\x10\x00" * 1000,
    "maps that claim 4 billion entries": b"\xdf\xff\xff\xff\xff" * 1000,
    "text that claims 4 billion characters": b"\xdb\xff\xff\xff\xff" + b"a" * 5000,
    "bytes that claim 4 billion": b"\xc6\xff\xff\xff\xff" + b"a" * 5000,
    "an extension that claims 4 billion": b"\xc9\xff\xff\xff\xff\x01" + b"a" * 5000,
    "a time": msgpack.packb(msgpack.Timestamp(1, 1)),
    "a code that is never used": b"\xc1",
    "nothing": b"",
    "a number": b"\x01",
    "a list": b"\x90",
    "text that is not UTF-8": b"\xa1\xff",
    "a map with a list as key": b"\x81\x90\x00",
}


@pytest.mark.parametrize("what", NESTED)
def test_deep_nesting_and_huge_claims(what: str) -> None:
    """As the file itself and as its payload, in memory that is linear in the file's size."""
    for content in (NESTED[what], sealed(NESTED[what]), b"\x84\xa6format" + NESTED[what]):
        tracemalloc.start()
        refusal(content)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 100 * len(content) + 2**20


def test_deep_nesting_within_a_field(content: bytes) -> None:
    fields = payload(content)
    deep: Any = 0
    for _ in range(400):
        deep = [deep]
    for name in fields:
        assert refusal(sealed(fields | {name: deep})).startswith(f"field '{name}")


def fact(**changes: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return a change of the last fact's entries."""
    names = ["rule", "path", "depth", "leaves", "bound", "cites"]

    def change(fields: dict[str, Any]) -> dict[str, Any]:
        last = [changes.get(name, value) for name, value in zip(names, fields["facts"][-1], strict=True)]
        return fields | {"facts": [*fields["facts"][:-1], last]}

    return change


WRONG: dict[str, list[Any]] = {
    "fingerprint": [None, "text", 5],
    "features": [None, [], [["x0", "is_true"]], [["x0", "unknown", None]], [["x0", "at_most", None]], [[1, 2, 3]],
                 [["x0", "at_most", float("inf")]], [["nowhere", "is_true", None]], [["x0", "is_true", "red"]]],
    "columns": [None, "x0", [1], ["x0", "x0"]],
    "kinds": [None, ["int"], ["complex"] * 9],
    "missing": [None, "ignore"],
    "target": [5, ["y"]],
    "weights": [None, 1, ["w"]],
    "classes": [None, [], [0], [0, 0], [[0], [1]], [None, 1], [float("nan"), 1]],
    "class_weight": [None, [], [[1, 1]], [[1, 0], [1, 1]], [[-1, 1], [1, 1]], [1, 1]],
    "cost_matrix": [None, [], [[]], [[[1, 1]]]],
    "regularization": [None, 0.01, "1/100", [1], [1, 0], [-1, 5], [b"\x01" * (LARGEST + 1), 1], [True, 1]],
    "max_depth": [-1, "2", 2.0, True, [2]],
    "max_leaves": [0, -3, 2.5],
    "min_support": [None, -1, [-1, 1]],
    "unit": [[0, 1], None],
    "penalty": [None, [1, 0]],
    "status": [None, 1],
    "tree": [None, [[]], [[-1]], [[99]], [[1, 2]], [[99, 1, 2]], [[1, -1, 2]], [["a"]], [None]],
    "objective": [None, 0.5],
    "lower_bound": [None, 0.5],
    "facts": [None, [None], [[]], {"1": 2}],
}  # fmt: skip
WRONG_FACTS: dict[str, list[Any]] = {
    "rule": [None, "similarity", 1],
    "path": [None, [0], [99], [-99], ["1"], [1.0], [True], [[1]], [1] * 50],
    "depth": [0, -1, "1", True],
    "leaves": [1, 0, -1, 2.0],
    "bound": [None, -1, 1.5, "3", b"\x01" * (LARGEST + 1)],
    "cites": [None, [1], [[1]], [[1, 1, 1]], [[0, 1]], [[99, 1]], [[1, "1"]], [[1, None]]],
}


def test_every_field_is_known_to_be_wrong(content: bytes) -> None:
    fields = payload(content)
    assert set(WRONG) == set(fields)
    for name, values in WRONG.items():
        for value in values:
            assert refusal(sealed(fields | {name: value})).startswith(f"field '{name}"), value
        without = {key: value for key, value in fields.items() if key != name}
        assert refusal(sealed(without)) == f"field '{name}' is missing"
    last = len(fields["facts"])
    for name, values in WRONG_FACTS.items():
        for value in values:
            assert refusal(sealed(fact(**{name: value})(fields))).startswith(f"field 'facts[{last}].{name}'"), value
    for cited in (last, last + 1, 0, -1, 2**63):
        assert "which is not an earlier one" in refusal(sealed(fact(cites=[[1, cited]])(fields)))
    assert refusal(sealed(fields | {"more": 1})) == "field 'more' is unknown"
    assert refusal(sealed({"1": 2})) == "field 'fingerprint' is missing"
    assert refusal(sealed({1: 2})) == "field 'payload' is not msgpack as a certificate is"


def test_the_envelope(content: bytes) -> None:
    envelope = msgpack.unpackb(content)
    for name, value, message in [
        ("format", "dosdt-model", "the file is not a dosdt certificate"),
        ("version", 2, "the file was written by a newer dosdt"),
        ("version", 0, "field 'version' must be"),
        ("version", True, "field 'version' must be"),
        ("payload", "text", "field 'payload' must be bytes"),
        ("sha256", b"", "field 'sha256' is not that of the payload"),
        ("more", 1, "the file is not a dosdt certificate"),
    ]:
        assert refusal(msgpack.packb(envelope | {name: value})).startswith(message)
    four = b"\x84" + 4 * (msgpack.packb("format") + msgpack.packb("dosdt-certificate"))
    assert refusal(four) == "a field occurs twice"
    other = {("sha" if key == "sha256" else key): value for key, value in envelope.items()}
    assert refusal(msgpack.packb(other)) == "field 'sha256' is missing"


def test_a_model_file_is_no_certificate(tmp_path: Path) -> None:
    assert refusal(b'{"format": "dosdt-model", "schema": 1}').startswith("the file ")
