"""What ends with what while a child is still being started."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from pie_mlx.errors import ProcessCancelledError
from pie_mlx.runtime.children import ChildRequest, LaunchedProcess, LaunchLimits, ProcessTree
from pie_mlx.runtime.children.launch_tree import LaunchTree
from pie_mlx.runtime.execution.outcome import Failed, Outcome
from pie_mlx.runtime.execution.process import Process
from pie_mlx.runtime.program.program import Program, find_program


class Started:
    """A process as the household sees it: it runs until it is cancelled."""

    def __init__(self, number: str) -> None:
        self.id = number
        self.cancelled = asyncio.Event()

    def cancel(self) -> None:
        self.cancelled.set()

    async def outcome(self) -> Outcome:
        await self.cancelled.wait()
        return Failed(ProcessCancelledError("cancelled", hint="launch it again"))


def process_tree(program: Program | None = None) -> ProcessTree:
    async def start(request: ChildRequest) -> Process:
        raise AssertionError(request)

    def resolve(name: str, users: Sequence[str]) -> Program:
        assert program is not None, name
        return program

    return ProcessTree(LaunchTree(LaunchLimits()), resolve, start)


def member() -> LaunchedProcess:
    return LaunchedProcess("ada", None, None)


def attend(home: ProcessTree, number: str) -> Started:
    started = Started(number)
    home.attend(cast("Process", started))
    return started


async def test_a_child_that_has_not_started_when_its_parent_fails_is_ended_at_its_start() -> None:  # I1
    home = process_tree()
    home.enter("parent", member(), None)
    parent = attend(home, "parent")
    home.enter("child", member(), "parent")
    parent.cancel()
    await home.wait_until_ended()
    child = attend(home, "child")
    assert child.cancelled.is_set()
    await home.wait_until_ended()
    home.check_integrity()
    assert home.is_empty


async def test_a_child_whose_launch_was_given_up_is_ended_at_its_start(tmp_path: Path) -> None:  # I1
    (tmp_path / "main.py").write_text("async def main(input): ...\n")
    home = process_tree(find_program(tmp_path))
    starting, may_start, child = asyncio.Event(), asyncio.Event(), Started("child")

    async def start(request: ChildRequest) -> Process:
        home.enter(request.process_id, member(), request.parent)
        starting.set()
        await may_start.wait()
        child.id = request.process_id
        home.attend(cast("Process", child))
        return cast("Process", child)

    home.start = start
    home.enter("parent", member(), None)
    parent = attend(home, "parent")
    launching = asyncio.create_task(home.launch("parent", "child", "{}"))
    await starting.wait()
    launching.cancel()
    await asyncio.gather(launching, return_exceptions=True)
    may_start.set()
    async with asyncio.timeout(10):
        await child.cancelled.wait()
    parent.cancel()
    await home.wait_until_ended()
    home.check_integrity()
