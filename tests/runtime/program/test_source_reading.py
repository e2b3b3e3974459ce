"""What is told from a source, and what no source can do to the process that asks."""

import sys
import threading
from pathlib import Path

import pytest

from pie_mlx.errors import LaunchError
from pie_mlx.runtime.program import source_reading
from pie_mlx.runtime.program.manifest import Manifest
from pie_mlx.runtime.program.program import examine_program, find_program
from pie_mlx.runtime.program.semver import Version
from pie_mlx.runtime.program.source_reading import AT_ONCE_BYTES, findings_of, source_facts
from pie_mlx.runtime.program.source_text import SOURCE_LIMIT_BYTES

MAIN = "async def main(input): ...\n"
LONG = "#" * AT_ONCE_BYTES + "\n"
FILE = Path("main.py")
NULL_BYTES = f"main.py:{'1' if sys.version_info >= (3, 11, 4) else ' Python cannot read it'}: source code string cannot"
"""Earlier Pythons name no line."""


@pytest.mark.parametrize("padding", ["", LONG], ids=["here", "in another process"])
@pytest.mark.parametrize(
    ("source", "told"),
    [
        (MAIN, ("async", False, False)),
        ("def main(input): ...\n", ("blocking", False, False)),
        ("import inferlet\nprint(1)\n", ("script", False, False)),
        ("async def handle(request): ...\n", (None, True, False)),
        ("if __name__ == '__main__':\n    print(1)\n", (None, False, True)),
    ],
)
def test_a_source_is_told_the_same_wherever_it_is_read(source, told, padding):
    facts = source_facts(source + padding, FILE, "main")
    assert (facts.entry_kind, facts.handles, facts.guarded) == told


@pytest.mark.parametrize("padding", ["", LONG], ids=["here", "in another process"])
@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("def\n", "main.py:1: invalid syntax"),
        ("a" + ".a" * 6000 + "\n", "main.py: Python cannot read it: maximum recursion depth"),
        ("-" * 8000 + "1\n", "main.py: Python cannot read it: it is too deep or too large"),
        ("9" * 5000 + "\n", "main.py:1: Exceeds the limit"),
        ("\0\n", NULL_BYTES),
        ("(" * 8000 + "\n", "main.py:1: too many nested parentheses"),
    ],
)
def test_a_source_that_python_cannot_read_is_refused(source, why, padding):
    with pytest.raises(LaunchError) as raised:
        source_facts(source + padding, FILE, "main")
    assert raised.value.message.startswith(why)


@pytest.mark.parametrize(
    ("source", "limit", "most"),
    [
        ('f"' + "{a}" * (SOURCE_LIMIT_BYTES // 3 - 2) + '"', "CPU_LIMIT_SECONDS", 1),
        ("a;" * (SOURCE_LIMIT_BYTES // 2), "MEMORY_LIMIT_BYTES", 128 << 20),
        ('f"' + "{a}" * (SOURCE_LIMIT_BYTES // 3 - 2) + '"', "PATIENCE_SECONDS", 0.0),
    ],
    ids=["time", "memory", "patience"],
)
def test_what_takes_too_much_ends_the_other_process_alone(source, limit, most, monkeypatch):
    boot = f"import pie_mlx.runtime.program.source_reading as r; r.{limit} = {most}; {source_reading.BOOT}"
    monkeypatch.setattr(source_reading, limit, most)
    monkeypatch.setattr(source_reading, "BOOT", boot)
    with pytest.raises(LaunchError, match="cannot read it"):
        source_facts(source, FILE, "main")


@pytest.mark.skipif(sys.platform != "linux", reason="there a limit of its own ends it sooner")
def test_memory_is_watched_from_outside_where_no_limit_holds(monkeypatch):
    monkeypatch.setattr(source_reading, "MEMORY_LIMIT_BYTES", 1)
    monkeypatch.setattr(source_reading, "BOOT", "import time; time.sleep(60)")
    with pytest.raises(LaunchError, match="cannot read it within"):
        source_facts(LONG, FILE, "main")


def test_a_file_of_more_than_a_mebibyte_is_no_source(tmp_path):
    file = tmp_path / "main.py"
    file.write_text(MAIN + "#" * SOURCE_LIMIT_BYTES)
    with pytest.raises(LaunchError, match="longer than 1 MiB"):
        find_program(file)
    assert examine_program(file) == (None, [f"{file}: longer than 1 MiB"])


def test_a_long_module_beside_the_main_file_is_data(tmp_path):
    (tmp_path / "main.py").write_text("import table\n" + MAIN)
    (tmp_path / "table.py").write_text("#" * (SOURCE_LIMIT_BYTES + 1))
    assert findings_of(Manifest("a", Version((0, 1, 0))), tmp_path / "main.py", tmp_path) == []


@pytest.mark.parametrize(
    "source",
    [
        "".join(f"verbose_{number}\n" for number in range(4000)),
        "import inferlet\n" + "inferlet.nothing\n" * 4000,
        "import inferlet\n" + "inferlet.Context(1, 2, 3, 4)\n" * 4000,
        "x = " + "lambda: " * 900 + "0\n",
        "x = a" + "()" * 900 + "\n",
    ],
)
def test_findings_of_any_source_come_in_time_and_are_few(source):
    found = findings_of(Manifest("a", Version((0, 1, 0))), FILE, Path(), {"main.py": source + MAIN})
    assert len(found) <= 301


def test_nothing_is_left_of_a_reading():
    before = threading.active_count()
    source_facts(LONG + MAIN, FILE, "main")
    assert threading.active_count() == before
