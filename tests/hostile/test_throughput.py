"""The measurement of honest programs beside attackers, in short: that it measures, not what."""

from benchmarks.hostile import run


async def test_an_honest_program_is_measured_beside_a_hostile_program_and_a_hostile_client():
    rows = await run("dummy", ["small calls", "handshakes"], 0.1)
    assert [row.attacker for row in rows] == ["small calls", "handshakes"]
    assert all(row.alone > 0 and row.beside > 0 for row in rows)
