"""A running engine, through a client."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec

from pie_mlx.client import Client, EngineEvent, Watch
from pie_mlx.errors import InvalidArgumentError, PieError
from pie_mlx.events import AnyEvent, Event
from pie_mlx.tui.model import Record
from pie_mlx.tui.model.facts import NO_FACTS, Facts
from pie_mlx.tui.model.folding.snapshot import snapshot_state
from pie_mlx.tui.model.pool_books import PageBook, PoolBooks
from pie_mlx.tui.model.state import INITIAL
from pie_mlx.tui.source.base import Feed, Link
from pie_mlx.tui.source.live_facts import ask_facts
from pie_mlx.tui.source.playback import Playback
from pie_mlx.tui.source.settling import Settling

FACTS_SECONDS = 2.0
CLOCK_SECONDS = 0.5
RETRY_SECONDS = (0.5, 1.0, 2.0, 5.0)

_decoder = msgspec.json.Decoder(AnyEvent)


class LiveSource:
    """A source, and the controller of the same engine.

    `open_client` connects and authenticates. It is called again whenever the connection is lost, so a restarted server
    is found at its new address. It raises PieError.
    """

    playback: Playback | None = None

    def __init__(
        self,
        label: str,
        open_client: Callable[[], Awaitable[Client]],
        *,
        clock: Callable[[], float] = time.time,
        retry_seconds: tuple[float, ...] = RETRY_SECONDS,
    ) -> None:
        self.label = label
        self._open_client = open_client
        self._clock = clock
        self._retry_seconds = retry_seconds
        self._client: Client | None = None
        self._drains: set[asyncio.Task[None]] = set()
        self._tokens_of = ""
        self._followed = 0
        """The number of the latest event that was fed."""

    @property
    def refusal(self) -> str:
        """Why no command is possible now."""
        return "" if self._client is not None else "there is no connection to an engine"

    async def run(self, feed: Feed) -> None:
        attempts = 0
        feed.link(Link("connecting"))
        while True:
            trouble, hint = "the connection ended", ""
            try:
                async with await self._open_client() as client:
                    self._client = client
                    attempts = 0
                    await self._follow(client, feed)
            except (PieError, OSError) as error:
                trouble, hint = str(error), error.hint if isinstance(error, PieError) else ""
            finally:
                self._client = None
            seconds = self._retry_seconds[min(attempts, len(self._retry_seconds) - 1)]
            attempts += 1
            feed.link(Link("reconnecting", f"{trouble}; trying again", hint))
            await asyncio.sleep(seconds)

    async def feed_for(self, feed: Feed, seconds: float) -> None:
        """Feed the engine's state, the events of so many seconds and the facts. Raises PieError."""
        async with await self._open_client() as client:
            watch = await client.watch(since=0)
            await self._follow_past(watch, feed, seconds)
            if not self._followed:  # none has come: the snapshot tells what came of them
                feed.reset(self._snapshot_state(watch))
            feed.facts(await ask_facts(client, NO_FACTS))
        feed.advance(self._clock())  # without events, nothing else advances the time

    async def _follow(self, client: Client, feed: Feed) -> None:
        """Feed until the connection is lost, which is raised."""
        watch = await client.watch(since=0)
        if self._tokens_of:  # the connection was lost meanwhile, perhaps with the process
            with contextlib.suppress(PieError):  # an end of the connection shows below
                await client.watch_tokens(self._tokens_of)
        feed.link(Link("live"))
        helpers = [asyncio.create_task(self._keep_facts(client, feed)), asyncio.create_task(self._keep_time(feed))]
        try:
            await self._follow_events(watch, feed)
        finally:
            for helper in helpers:
                helper.cancel()

    async def _follow_past(self, watch: Watch, feed: Feed, seconds: float) -> None:
        """Feed events for so long, and on while those from before come, or a part of the past would be told as the
        present."""
        reached, self._followed = int(watch.snapshot["sequence"]), 0
        following = asyncio.create_task(self._follow_events(watch, feed))
        try:
            before = -1
            while before < self._followed < reached or before < 0:
                before = self._followed
                done, _ = await asyncio.wait([following], timeout=seconds)
                if done:
                    return following.result()
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)

    async def _follow_events(self, watch: Watch, feed: Feed) -> None:
        """Feed all events from the start, if the server has kept them; else its snapshot and later events."""
        reached = int(watch.snapshot["sequence"])
        self._followed = after = 0
        feed.reset(INITIAL if reached else self._snapshot_state(watch))
        settling = Settling(feed)
        try:
            async for frame in watch.events:
                if frame.kind == "gap" and not after and frame.sequence <= reached:
                    self._followed = after = reached
                    feed.reset(self._snapshot_state(watch))  # it tells what came of them: nothing was missed
                elif frame.sequence > after:
                    _feed_frame(frame, feed, settling)
                    self._followed = frame.sequence
        finally:
            settling.release()

    def _snapshot_state(self, watch: Watch) -> Any:
        try:
            return snapshot_state(watch.snapshot["state"], self._clock(), int(watch.snapshot["sequence"]))
        except (msgspec.ValidationError, KeyError) as error:
            raise InvalidArgumentError(f"the server's snapshot: {error}", hint="use the same version") from None

    async def _keep_facts(self, client: Client, feed: Feed) -> None:
        facts: Facts = NO_FACTS
        with contextlib.suppress(PieError):  # the end of the events reports a lost connection
            while True:
                facts = await ask_facts(client, facts)
                feed.facts(facts)
                await asyncio.sleep(FACTS_SECONDS)

    async def _keep_time(self, feed: Feed) -> None:
        while True:
            feed.advance(self._clock())
            await asyncio.sleep(CLOCK_SECONDS)

    async def watch_tokens(self, process: str) -> None:
        self._tokens_of = process
        await self._connected().watch_tokens(process)

    async def pool(self, model: str = "") -> PoolBooks:
        return msgspec.convert(await self._connected().query("pool", **_of(model)), PoolBooks)

    async def page(self, number: int, model: str = "") -> PageBook:
        return msgspec.convert(await self._connected().query("page", page=number, **_of(model)), PageBook)

    # Steering.

    async def kill(self, process: str) -> None:
        await self._connected().terminate(process)

    async def suspend(self, process: str) -> None:
        await self._connected().suspend(process)

    async def set_bid(self, process: str, bid: float) -> None:
        await self._connected().set_bid(process, bid)

    async def attach(self, process: str) -> None:
        """Its output is already in the watched events; attaching gives the process a client."""
        attached = await self._connected().attach(process)

        async def drain() -> None:
            async for _ in attached.events():
                pass

        task = asyncio.create_task(drain())
        self._drains.add(task)
        task.add_done_callback(self._forget)

    def _forget(self, task: "asyncio.Task[None]") -> None:
        self._drains.discard(task)
        if not task.cancelled():
            task.exception()  # a lost connection is on the screen already

    async def send(self, process: str, text: str) -> None:
        await self._connected().signal(process, text)

    async def send_file(self, process: str, path: str) -> None:
        data = await asyncio.to_thread(_contents, path)
        await self._connected().send_file(process, data)

    async def launch(self, program: str, input: dict[str, Any], token_budget: int | None) -> str:
        started = await self._connected().launch(program, input, attach=False, token_budget=token_budget)
        return started.id

    def _connected(self) -> Client:
        if self._client is None:
            raise InvalidArgumentError(self.refusal, hint="wait until it is back")
        return self._client


def _of(model: str) -> dict[str, str]:
    """The name of a model, for a query; older servers know only those about the default one."""
    return {"model": model} if model else {}


def _feed_frame(frame: EngineEvent, feed: Feed, settling: Settling) -> None:
    if frame.kind == "gap":
        feed.missed(lost=_missed(frame))
        return
    event = decoded(frame.data)
    if event is None:
        feed.missed(unknown=1)
    else:
        settling.add(Record(frame.time, event))


def _missed(gap: EngineEvent) -> int:
    """The number of events in a gap."""
    return int(msgspec.json.decode(gap.data).get("missed", 1))


def _contents(path: str) -> bytes:
    return Path(path).expanduser().read_bytes()


def decoded(data: str) -> Event | None:
    """The event of a frame; None for a kind that this version does not know, or one of another shape."""
    try:
        return _decoder.decode(data)
    except msgspec.DecodeError:
        return None
