"""Disk space."""

import functools
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


@pytest.fixture(scope="module")
def endings(tmp_path_factory):
    """How programs of a language that hide files, all at once, end; the engine stops after that. By the way in which
    they hide them: exit status and standard error. `engine` is how that ends, and `left` what it leaves."""
    return functools.cache(lambda language: _endings(language, tmp_path_factory.mktemp("hostile")))


def _endings(language, directory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(directory))
        target = Target(directory / "home", config=CONFIG)
    try:
        with target.stays_healthy(growth_bytes=256 << 20):
            path = f"{PROGRAMS}/{language}/hide_files.{LANGUAGES[language]}"
            started = {
                way: target.start("run", path, "--input", json.dumps({"way": way})) for way in IN_LANGUAGE[language]
            }
            found = {way: (child.communicate()[1], child.returncode) for way, child in started.items()}
        found["engine"] = target.end(signal.SIGTERM)
        found["left"] = [name for name in os.listdir(directory) if name.startswith("pie-programs-")]
        return found
    finally:
        target.clean_up()


@pytest.mark.parametrize(("language", "way"), [(one, way) for one, ways in IN_LANGUAGE.items() for way in ways])
def test_files_beyond_the_limit_end_a_program_wherever_it_hides_them(endings, language, way):
    err, code = endings(language)[way]
    assert (code, "Scratch limit" in err, WAYS[way] in err) == (1, True, True), err


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_engine_stops_and_nothing_of_them_is_left(endings, language):
    found = endings(language)
    assert (found["engine"], found["left"]) == (0, [])
