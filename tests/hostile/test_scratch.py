"""Disk space."""

import json
import os
import signal
import sys

import pytest

from tests.hostile.conftest import LANGUAGES
from tests.hostile.target import Target

PROGRAMS = os.path.join(os.path.dirname(__file__), "programs")
CONFIG = """
[runtime]
sandbox = "required"
scratch_max_mb = 1
"""
EVERYWHERE = {
    "in_closed_directories": "",
    "behind_long_paths": "limit of 1 MiB exceeded",
    "deep_down": "limit of 1 MiB exceeded",
    "deleted_and_open": "limit of 1 MiB exceeded",
    "as_many_empty_ones": "limit of 4096 files exceeded",
}
ON_LINUX = {
    "deleted_and_mapped": "there are files that cannot be measured",
    "deleted_and_on_the_way": "there are files that cannot be measured",
}
WAYS = EVERYWHERE | (ON_LINUX if sys.platform == "linux" else {})
IN_LANGUAGE = {
    "python": list(WAYS),
    "javascript": ["deleted_and_open", "as_many_empty_ones"],
}
"""The others are the watch's own, whatever writes the files."""


@pytest.fixture(scope="module", params=LANGUAGES)
def endings(request, tmp_path_factory):
    """How programs that hide files, all at once, end; the engine stops after that. By the way in which they hide them:
    exit status and standard error. `engine` is how that ends, and `left` what it leaves."""
    directory = tmp_path_factory.mktemp("hostile")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(directory))
        target = Target(directory / "home", config=CONFIG)
    try:
        with target.stays_healthy(growth_bytes=256 << 20):
            path = f"{PROGRAMS}/{request.param}/hide_files.{LANGUAGES[request.param]}"
            started = {
                way: target.start("run", path, "--input", json.dumps({"way": way}))
                for way in IN_LANGUAGE[request.param]
            }
            found = {way: (child.communicate()[1], child.returncode) for way, child in started.items()}
        found["engine"] = target.end(signal.SIGTERM)
        found["left"] = [name for name in os.listdir(directory) if name.startswith("pie-programs-")]
        yield found
    finally:
        target.clean_up()


@pytest.mark.parametrize(
    ("endings", "way"), [(one, way) for one, ways in IN_LANGUAGE.items() for way in ways], indirect=["endings"]
)
def test_files_beyond_the_limit_end_a_program_wherever_it_hides_them(endings, way):
    err, code = endings[way]
    assert (code, "Scratch limit" in err, WAYS[way] in err) == (1, True, True), err


def test_the_engine_stops_and_nothing_of_them_is_left(endings):
    assert (endings["engine"], endings["left"]) == (0, [])
