"""A trace, as Perfetto's own trace processor reads it: nothing is left out, and all that a run did is found there."""

import json
import subprocess
from pathlib import Path

import pytest

from pie_mlx import Engine
from pie_mlx.events import DETAIL_KINDS
from pie_mlx.trace.file import Recorded, write_trace
from tests.clients.conftest import INSTALLED

pytestmark = pytest.mark.timeout(120)
QUERIES = (
    "select name, value from stats where severity != 'info' and value > 0",
    "select distinct t.name from thread t join process p using (upid) where p.name like 'swarm@%' and t.name not null",
    "select count(*) from process where name like 'worker@%'",
    "select name from slice where name like 'prefill%' or name in ('step', 'next batch', 'launch_child')",
    "select count(*) from flow",
    "select count(*) from counter",
)


@pytest.fixture
async def trace(tmp_path):
    events = []
    async with Engine("pie-tiny", details=DETAIL_KINDS, on_event=events.append) as engine:
        await engine.run("examples/swarm", {"workers": 2, "max_tokens": 4})
    write_trace(tmp_path / "out.json", Recorded(events, 0))
    return tmp_path / "out.json"


def test_perfetto_finds_programs_children_steps_passes_and_messages(trace):
    ran = subprocess.run(
        [INSTALLED / "perfetto/bin/python", Path(__file__).parent / "perfetto/query_trace.py", trace, *QUERIES],
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert ran.returncode == 0, ran.stderr
    problems, tracks, [[workers]], slices, [[arrows]], [[figures]] = json.loads(ran.stdout)
    assert problems == []
    assert {("program",), ("waits",), ("messages",), ("calls",)} <= {tuple(row) for row in tracks}
    assert workers == 2
    assert {"step", "next batch", "launch_child"} < {name for (name,) in slices}
    assert (arrows > 0, figures > 0) == (True, True)
