"""A quarter of a minute of programs and clients that come, crash, hang and are killed leaves nothing behind."""

import pytest

from benchmarks.soak import soak


@pytest.mark.timeout(180)
async def test_a_quarter_of_a_minute_of_faults_leaves_nothing_behind() -> None:  # E7, P15
    report = await soak(seconds=15, seed=1)
    assert report.left_over == {}
    assert report.endings["returned"] > 10
    assert {"RuntimeError", "ProcessCancelledError", "ProcessError"} <= set(report.endings)
    assert {"visit", "stop worker", "continue all", "kill worker"} <= set(report.deeds)
