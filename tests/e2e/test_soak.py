"""A minute of programs that come, crash, hang and are killed leaves nothing behind."""

import pytest

from benchmarks.soak import soak


@pytest.mark.timeout(180)
async def test_a_minute_of_faults_leaves_nothing_behind() -> None:  # E7, P15
    endings, leaked = await soak(seconds=50, seed=1)
    assert leaked == {}
    assert endings["returned"] > 20
    assert {"RuntimeError", "ProcessCancelledError", "ProcessError"} <= set(endings)
