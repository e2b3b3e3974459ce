"""Both SDKs do the same: what the Python SDK has written down, it does still, and the JavaScript SDK does too."""

import json
import math
import subprocess
import sys
from functools import cache
from typing import Any

import msgspec
import pytest

from pie_mlx import calls
from tests.docs.pages import ROOT
from tests.javascript.inferlet.running import run
from tests.vectors.files import FILES, FOLDER, written

CALLS = {kind.__struct_config__.tag: kind for kind in calls.Call.__subclasses__()}


@cache
def cases(kind: str) -> list[Any]:
    return [case for case in written(kind) if "models" not in case]


@cache
def acted(kind: str) -> list[Any]:
    """What the JavaScript SDK does with the cases of a file, all in one process."""
    return run("act_vectors.mjs", kind, str(FOLDER / f"{kind}.json"))


@pytest.mark.parametrize("kind", FILES)
def test_the_python_sdk_does_what_is_written(kind: str) -> None:
    # The SDK numbers its matchers from the start of the interpreter on: that of other tests has made some.
    code = f"import json; from tests.vectors.files import vectors; print(json.dumps(vectors({kind!r})))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert json.loads(ended.stdout.splitlines()[-1]) == written(kind), "run python -m tests.vectors"


def test_masks_are_the_same() -> None:
    expected = [{name: case[name] for name in ("result", "error") if name in case} for case in cases("masks")]
    assert acted("masks") == expected


@pytest.mark.parametrize("place", range(len(cases("decoding"))))
def test_decoders_give_the_same_events(place: int) -> None:
    assert acted("decoding")[place] == cases("decoding")[place]["events"], cases("decoding")[place]["name"]


@pytest.mark.parametrize("place", range(len(cases("programs"))), ids=[case["name"] for case in cases("programs")])
def test_programs_make_the_same_calls_and_get_the_same_results(place: int) -> None:
    expected, found = cases("programs")[place], acted("programs")[place]
    asked = [_message(entry["call"]) for entry in expected["crossed"]]
    assert [_message(call) for call in found["calls"]] == asked
    for act, result, wanted in zip(expected["acts"], found["results"], expected["results"], strict=True):
        assert _close(result, wanted), (act, result, wanted)


def _message(call: dict[str, Any]) -> Any:
    """The call as the engine reads it."""
    return msgspec.convert(_bytes(call), CALLS[call["call"]], str_keys=True)


def _bytes(value: Any) -> Any:
    if isinstance(value, list):
        return [_bytes(item) for item in value]
    if isinstance(value, dict):
        return (
            bytes.fromhex(value["bytes"])
            if value.keys() == {"bytes"}
            else {key: _bytes(item) for key, item in value.items()}
        )
    return value


def _close(found: Any, wanted: Any) -> bool:
    """Equal, up to the precision of float32."""
    if isinstance(found, float | int) and isinstance(wanted, float | int):
        return math.isclose(found, wanted, rel_tol=1e-6)
    if isinstance(found, list) and isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(_close, found, wanted))
    return found == wanted
