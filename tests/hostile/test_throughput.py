"""The measurement of honest programs beside attackers, in short: that it measures, not what."""

from benchmarks.attackers import CONTROL
from benchmarks.hostile import run


async def test_an_honest_program_is_measured_beside_a_hostile_program_and_a_busy_machine():
    rows = await run("dummy", ["small calls"], 0.1)
    assert [row.attacker for row in rows] == [CONTROL, "small calls"]
    assert all(row.alone > 0 and row.beside > 0 for row in rows)
