"""Launches that wait: the pool has 16 pages, so each claims 8 of the 17 that may be promised."""

import asyncio
import json

import pytest

from pie_mlx import Engine
from pie_mlx.errors import AdmissionError, ProcessCancelledError
from pie_mlx.events import ProcessFailed, ProcessQueued
from pie_mlx.runtime.program.program import find_program
from pie_mlx.runtime.registry import Launch, Registry, RegistryLimits, row_of
from tests.runtime.registry.conftest import ADA, BOB, Listener, Player
from tests.untimed import untimed

WAIT = json.dumps({"do": "wait"})
PARENT = """
from inferlet import runtime

async def main(input):
    return runtime.launch("child.py").pid
"""
CHILD = "import asyncio\nasync def main(input):\n    await asyncio.Event().wait()\n"

pytestmark = pytest.mark.timeout(30)


@pytest.fixture
async def make_crowd():
    registries = []
    engines = []

    async def make(factor=1.0, **limits):
        engine = Engine(dummy=True, total_pages=16, max_batch_contexts=2, admission_oversubscription=factor, seed=1)
        engines.append(await engine.__aenter__())
        events = []
        registries.append(Registry(engine, model="dummy", limits=RegistryLimits(**limits), emit=events.append))
        player = Player(engine, registries[-1])
        player.events = events
        return player

    yield make
    for registry in registries:
        registry.check_integrity()
        await registry.stop()
        registry.check_integrity()
    for engine in engines:
        await engine.stop()


@pytest.fixture
async def crowd(make_crowd):
    return await make_crowd()


async def end(crowd, *records):
    for record in records:
        crowd.registry.terminate(record)
        await record.ended.wait()


def states(records):
    return [record.state for record in records]


async def test_launches_beyond_what_may_be_claimed_are_queued_and_say_why(crowd):  # Q11
    records = [crowd.launch(WAIT) for _ in range(3)]
    assert states(records) == ["running", "running", "queued"]
    reason = (
        "queued: running launches claim 16 of the 17 pages that may be claimed; launches resume once the claims have"
    )
    assert row_of(records[2], None).reason.startswith(reason)
    (event,) = crowd.events
    assert untimed(event) == ProcessQueued(records[2].id, "ada", records[2].program.identity, records[2].reason)


async def test_they_start_in_order_once_the_claims_have_fallen_to_the_barrier(crowd):  # Q11
    records = [crowd.launch(WAIT) for _ in range(5)]
    await end(crowd, records[0])
    assert states(records[1:]) == ["running", "queued", "queued", "queued"]
    await end(crowd, records[1])
    assert states(records[2:]) == ["running", "running", "queued"]
    assert row_of(records[2], None).reason == ""


async def test_a_small_budget_claims_little(make_crowd):  # Q11
    crowd = await make_crowd(starting=17)
    records = [crowd.launch(WAIT, token_budget=16) for _ in range(17)]
    assert states(records) == ["running"] * 17
    assert crowd.launch(WAIT, token_budget=16).state == "queued"


async def test_launches_of_a_user_that_claim_everything_keep_no_others_waiting(crowd):  # Q11
    flood = [crowd.launch(WAIT, user=BOB) for _ in range(20)]
    assert crowd.launch(WAIT, user=ADA).state == "running"
    assert states(flood).count("queued") == 18


async def test_a_launch_that_can_never_start_is_refused(make_crowd):  # Q11
    crowd = await make_crowd(0.25)
    with pytest.raises(AdmissionError, match="a launch claims 8 pages, admission ends at 5"):
        crowd.launch(WAIT)
    with pytest.raises(AdmissionError):
        await crowd.registry.launch_at_once(ADA, Launch(crowd.program, WAIT))
    assert crowd.registry.records(ADA, all=True) == []


async def test_children_claim_nothing_and_keep_the_claim_of_their_root(crowd, tmp_path):  # Q11
    (tmp_path / "main.py").write_text(PARENT)
    (tmp_path / "child.py").write_text(CHILD)
    roots = [crowd.launch("{}", program=find_program(tmp_path)) for _ in range(2)]
    for root in roots:
        await root.ended.wait()
    children = [record for record in crowd.registry.records(ADA) if record.parent]
    assert states(children) == ["running", "running"]
    waiting = crowd.launch(WAIT)
    assert waiting.state == "queued"
    await end(crowd, *children)
    assert waiting.state == "running"


async def test_a_launch_that_somebody_waits_for_waits_for_its_turn_as_well(crowd):  # Q11
    running = [crowd.launch(WAIT) for _ in range(2)]
    launching = asyncio.create_task(crowd.registry.launch_at_once(ADA, Launch(crowd.program, WAIT)))
    await asyncio.sleep(0)
    (waiting,) = [record for record in crowd.registry.records(ADA) if record.state == "queued"]
    assert untimed(crowd.events) == [ProcessQueued(waiting.id, "ada", waiting.program.identity, waiting.reason)]
    await end(crowd, *running)
    assert (await launching).id == waiting.id


async def test_cancelling_a_launch_that_waits_gives_it_up(crowd):
    running = [crowd.launch(WAIT) for _ in range(2)]
    launching = asyncio.create_task(crowd.registry.launch_at_once(ADA, Launch(crowd.program, WAIT)))
    await asyncio.sleep(0)
    launching.cancel()
    await asyncio.wait([launching])
    assert crowd.registry.records(ADA, all=True) == running
    crowd.registry.check_integrity()


async def test_a_waiting_launch_can_be_terminated(crowd):
    for _ in range(2):
        crowd.launch(WAIT)
    queued = crowd.launch(WAIT)
    launching = asyncio.create_task(crowd.registry.launch_at_once(ADA, Launch(crowd.program, WAIT)))
    await asyncio.sleep(0)
    waiting = crowd.registry.records(ADA)[-1]
    await end(crowd, queued, waiting)
    with pytest.raises(ProcessCancelledError):
        await launching
    ended = [event for event in crowd.events if isinstance(event, ProcessFailed)]
    assert [(event.process, event.message) for event in ended] == [(queued.id, "Signal"), (waiting.id, "Signal")]
    crowd.registry.check_integrity()


async def test_an_admitted_launch_waits_for_a_place_too(make_crowd):
    crowd = await make_crowd(concurrent=1)
    records = [crowd.launch(WAIT) for _ in range(3)]
    assert records[1].reason == "queued: the limit of concurrent processes is reached"
    assert "claim" in records[2].reason
    await end(crowd, records[0])
    assert states(records[1:]) == ["running", "queued"]


async def test_few_launches_of_a_user_start_at_once_and_the_others_say_why(make_crowd):
    crowd = await make_crowd(starting=2)
    last = Listener()
    flood = [crowd.launch(WAIT, token_budget=16, listener=last if n == 3 else None) for n in range(4)]
    assert states(flood) == ["running", "running", "queued", "queued"]
    assert flood[2].reason == "queued: other programs of this user are starting, users start in turn"
    assert crowd.launch(WAIT, token_budget=16, user=BOB).state == "running"
    await last.message("waiting")
    assert states(flood) == ["running"] * 4


async def test_users_get_places_in_turn(make_crowd):
    crowd = await make_crowd(concurrent=1)
    flood = [crowd.launch(WAIT, token_budget=16) for _ in range(3)]
    honest = crowd.launch(WAIT, token_budget=16, user=BOB)
    await end(crowd, flood[0])
    assert [*states(flood), honest.state] == ["killed", "running", "queued", "queued"]
    await end(crowd, flood[1])
    assert [flood[2].state, honest.state] == ["queued", "running"]


async def test_everything_that_waits_ends_when_the_registry_stops(crowd):
    records = [crowd.launch(WAIT) for _ in range(4)]
    launching = asyncio.create_task(crowd.registry.launch_at_once(ADA, Launch(crowd.program, WAIT)))
    await asyncio.sleep(0)
    await crowd.registry.stop()
    assert {record.terminal.message for record in records} == {"Engine stopped"}
    with pytest.raises(ProcessCancelledError):
        await launching
