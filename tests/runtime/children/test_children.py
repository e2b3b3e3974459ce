"""Programs that launch programs, on an engine."""

import asyncio
from pathlib import Path

import pytest

from inferlet import Context, Model, runtime, session
from pie_mlx import Engine
from pie_mlx.engine.inspection import process_statuses
from pie_mlx.errors import (
    ChildFailedError,
    InvalidTypeError,
    LaunchError,
    ProcessCancelledError,
    ProcessError,
    SessionClosedError,
    TokenBudgetError,
)
from pie_mlx.events import AccountJoined, AccountLeft, Event, ProcessFailed, ProcessLaunched, ProcessReturned
from pie_mlx.runtime.children import ChildRequest, LaunchLimits
from pie_mlx.runtime.children.process_tree import ProcessTree
from pie_mlx.runtime.execution.process import Process
from tests.instances import instances

CHILD = """
import asyncio
from inferlet import Context, Model, messaging, runtime, session

async def main(input):
    match input.get("do"):
        case "fail":
            raise ValueError("bad luck")
        case "fail typed":
            messaging.push("", "x")
        case "wait":
            messaging.push("started", "child")
            await asyncio.Event().wait()
        case "receive":
            return await session.receive()
        case "tokens":
            with Context(Model.load(runtime.models()[0])) as context:
                context.append(list(range(40, 60)))
                await context.flush()
        case "launch":
            runtime.launch("./child", {"do": "wait"})
        case "launch and fail":
            runtime.launch("./child", {"do": "wait"})
            raise ValueError("bad luck")
        case "deeper":
            return await runtime.launch("./child", {"do": "deeper"}).result()
        case _:
            print("working")
            return {"username": runtime.username(), "input": input}
"""


@pytest.fixture
def child(tmp_path: Path) -> str:
    """The path of a program that does what its input says; it launches itself as `./child`."""
    home = tmp_path / "child"
    (home / "child").mkdir(parents=True)
    for directory in (home, home / "child"):
        (directory / "main.py").write_text(CHILD)
    (home / "child" / "child").symlink_to(".")
    return str(home)


class Heard(list[Event]):
    """Events, and waiting for them."""

    def __init__(self) -> None:
        super().__init__()
        self.news = asyncio.Event()

    def append(self, event: Event) -> None:
        super().append(event)
        self.news.set()

    async def ended(self, count: int) -> None:
        """Wait until that many processes have ended."""
        while len(of(ProcessFailed, self)) + len(of(ProcessReturned, self)) < count:
            self.news.clear()
            await self.news.wait()


@pytest.fixture
async def heard():
    return Heard()


@pytest.fixture
def trees():
    """The process trees of the engines made since."""
    with instances(ProcessTree) as made:
        yield made


@pytest.fixture
async def engine(trees: list[ProcessTree], heard: Heard):
    limits = LaunchLimits(depth=2, children=3)
    async with Engine(dummy=True, total_pages=64, seed=1, on_event=heard.append, launch_limits=limits) as running:
        yield running
        trees[0].check_integrity()
    assert trees[0].is_empty


def of(kind: type[Event], heard: list[Event]) -> list[Event]:
    return [event for event in heard if isinstance(event, kind)]


async def test_a_child_runs_beside_its_parent_for_the_same_user(engine: Engine, child: str, heard: Heard) -> None:  # I1
    async def main(input):
        launched = runtime.launch(child, {"a": [1]})
        return [launched.pid, await launched.result(), await launched.result()]

    pid, first, second = await engine.run(main, username="ada")
    assert first == second == {"username": "ada", "input": {"a": [1]}}
    launches = {event.process: event for event in of(ProcessLaunched, heard)}
    assert launches[pid].program == "child@0.0.0"
    assert launches[launches[pid].parent].program == "main@0.0.0"


@pytest.mark.parametrize(
    ("input", "seen"),
    [
        (None, {}),
        ([], {}),
        ({"a": 1}, {"a": 1}),
        ('{"a": 1}', {"a": 1}),
        ("hi", {"input": "hi"}),
        ("[1]", {"input": "[1]"}),
        ("3", {"input": "3"}),
    ],
)
async def test_a_child_gets_the_input_of_its_launch(engine: Engine, child: str, input: object, seen: object) -> None:
    async def main(_):
        return (await runtime.spawn(child, input).result())["input"]

    assert await engine.run(main) == seen


@pytest.mark.parametrize("input", [[1], 3, {"x": object()}])
async def test_an_input_that_is_none_is_refused(engine: Engine, child: str, input: object) -> None:
    async def main(_):
        runtime.launch(child, input)

    with pytest.raises((LaunchError, InvalidTypeError)):
        await engine.run(main)


@pytest.mark.parametrize("program", ["nothing", "no/such.py", "", "a@1.0.0"])
async def test_an_unknown_program_is_a_launch_error(engine: Engine, program: str) -> None:  # I1
    async def main(input):
        runtime.launch(program)

    with pytest.raises(LaunchError):
        await engine.run(main)


@pytest.mark.parametrize(
    ("do", "type", "code"), [("fail", "ValueError", ""), ("fail typed", "InvalidArgumentError", "invalid_argument")]
)
async def test_the_error_of_a_child_is_carried_with_its_type(
    engine: Engine, child: str, do: str, type: str, code: str
) -> None:
    async def main(input):
        try:
            await runtime.launch(child, {"do": do}).result()
        except ChildFailedError as error:
            return [error.child_type, error.child_code, bool(error.child_message)]

    assert await engine.run(main) == [type, code, True]


async def test_a_child_can_be_cancelled_again_and_again(engine: Engine, child: str) -> None:  # I1
    async def main(input):
        launched = runtime.launch(child, {"do": "wait"})
        launched.cancel()
        launched.cancel()
        with pytest.raises(ProcessCancelledError, match="cancelled"):
            await launched.result()
        launched.cancel()

    await engine.run(main)


async def test_a_child_nobody_is_attached_to_has_nobody_to_wait_for(engine: Engine, child: str) -> None:
    async def main(input):
        await runtime.launch(child, {"do": "receive"}).result()

    with pytest.raises(ChildFailedError) as raised:
        await engine.run(main)
    assert raised.value.child_type == SessionClosedError.__name__


async def test_children_pay_from_the_wallet_of_their_parent(engine: Engine, child: str, heard: Heard) -> None:  # M1
    async def main(input):
        await runtime.launch(child, {"do": "tokens"}).result()
        with Context(Model.load(runtime.models()[0])) as context:
            context.append(list(range(40, 50)))
            await context.flush()
            context.append(list(range(40, 50)))
            await context.flush()

    with pytest.raises(TokenBudgetError) as raised:
        await engine.run(main, token_budget=32)
    assert (raised.value.needed, raised.value.remaining) == (10, 2)
    assert len(of(AccountJoined, heard)) == len(of(AccountLeft, heard)) == 1


async def test_the_account_lives_as_long_as_the_last_of_the_family(
    engine: Engine, child: str, heard: Heard
) -> None:  # M1
    async def main(input):
        runtime.launch(child, {"do": "wait"})

    children: list[Process] = []

    async def start(request: ChildRequest):
        children.append(
            await engine.launch(request.program, request.input, parent=request.parent, process_id=request.process_id)
        )
        return children[-1]

    engine.start_children_with(start)
    await engine.run(main)
    assert of(AccountLeft, heard) == []
    children[0].cancel()
    await children[0].outcome()
    assert len(of(AccountLeft, heard)) == 1


async def test_a_parent_that_fails_ends_its_descendants(engine: Engine, child: str, heard: Heard) -> None:
    process = await engine.launch(child, {"do": "launch and fail"}, capture_output=True)
    await process.outcome()
    await heard.ended(2)
    assert [event.error_type for event in of(ProcessFailed, heard)] == ["ValueError", "ProcessCancelledError"]
    assert of(ProcessFailed, heard)[1].message == "cancelled"


async def test_a_parent_that_is_ended_ends_its_descendants_two_generations_down(
    engine: Engine, child: str, heard: Heard
) -> None:
    async def main(input):
        await runtime.launch(child, {"do": "launch"}).result()
        session.send("launched")
        await session.receive()

    launched = asyncio.Event()
    process = await engine.launch(main, on_message=lambda text: launched.set())
    await launched.wait()
    process.cancel("Signal")
    await process.outcome()
    await heard.ended(3)
    assert len(of(ProcessFailed, heard)) == 2


async def test_a_parent_that_returns_leaves_its_children_running(engine: Engine, child: str, heard: Heard) -> None:
    await engine.run(child, {"do": "launch"})
    await heard.ended(1)
    assert len(await engine.consult(process_statuses)) == 1
    assert of(ProcessFailed, heard) == []


async def test_generations_are_bounded(engine: Engine, child: str) -> None:
    with pytest.raises(ChildFailedError) as raised:
        await engine.run(child, {"do": "deeper"}, capture_output=True)
    assert "max_launch_depth is 2" in str(raised.value)


async def test_children_are_bounded(engine: Engine, child: str) -> None:
    async def main(input):
        children = [runtime.launch(child, {"do": "wait"}) for _ in range(3)]
        with pytest.raises(LaunchError, match="max_children is 3"):
            runtime.launch(child)
        for launched in children:
            launched.cancel()
        with pytest.raises(ProcessCancelledError):
            await children[0].result()
        await runtime.launch(child).result()

    await engine.run(main)


async def test_another_programs_child_is_nobodys_business(engine: Engine, child: str) -> None:
    async def main(input):
        from inferlet._calls.host import current_host
        from pie_mlx.calls import AwaitChild, CancelChild, ForgetChild

        current_host().call(ForgetChild(input["pid"]))
        for call in (AwaitChild(input["pid"]), CancelChild(input["pid"])):
            with pytest.raises(ProcessError, match="not a child of this program"):
                current_host().call(call)

    stranger = await engine.launch(child, {"do": "wait"})
    await engine.run(main, {"pid": stranger.id})


async def test_many_children_one_after_the_other_leave_nothing(
    engine: Engine, trees: list[ProcessTree], child: str
) -> None:
    async def main(input):
        for number in range(20):
            assert (await runtime.launch(child, {"n": number}).result())["input"] == {"n": number}

    process = await engine.launch(main)
    await process.result()
    await trees[0].wait_until_ended()
    trees[0].check_integrity()


async def test_children_can_be_started_by_somebody_who_observes_them(engine: Engine, child: str) -> None:
    told: list[object] = []

    async def start(request: ChildRequest):
        process = await engine.launch(
            request.program, request.input, parent=request.parent, process_id=request.process_id, on_event=told.append
        )
        process.send("from outside")
        return process

    async def main(input):
        return await runtime.launch(child, {"do": "receive"}).result()

    engine.start_children_with(start)
    assert await engine.run(main) == "from outside"
    assert isinstance(told[0], ProcessLaunched)
    assert isinstance(told[-1], ProcessReturned)
