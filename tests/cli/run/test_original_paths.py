"""Traces of an uploaded copy name the files that it was uploaded from."""

import pytest

from pie_mlx.cli.run.original_paths import OriginalPaths
from pie_mlx.events import ProcessOutput

DIGEST = "ab" * 16
CACHE = f"/home (of) ada/cache/programs/{DIGEST}"


@pytest.mark.parametrize(
    ("name", "written", "shown"),
    [
        ("a.py", f'  File "{CACHE}/main.py", line 3, in main', '  File "{}", line 3, in main'),
        ("a.ts", f"    at main (file:///cache/{DIGEST}/main.ts:5:9)", "    at main ({}:5:9)"),
        ("a.mjs", f"    at /cache/{DIGEST}/main.mjs:5:9", "    at {}:5:9"),
        ("a.ts", "    at other (file:///cache/cd/main.ts:5:9)", "    at other (file:///cache/cd/main.ts:5:9)"),
    ],
)
def test_a_trace_names_the_file_of_the_author(tmp_path, name, written, shown):
    named = OriginalPaths(tmp_path / name, DIGEST)
    event = named(ProcessOutput("p", "stderr", written))
    assert event.text == shown.format(tmp_path / name)


def test_a_trace_names_files_in_the_directory_of_the_author(tmp_path):
    event = OriginalPaths(tmp_path, DIGEST)(ProcessOutput("p", "stderr", f"(file:///cache/{DIGEST}/lib/half.ts:4:1)"))
    assert event.text == f"({tmp_path}/lib/half.ts:4:1)"
