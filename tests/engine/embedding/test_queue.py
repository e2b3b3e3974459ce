"""Texts wait for the device in pieces, fairly, and can be given up."""

import asyncio
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pie_mlx.engine.embedding.batches import PieceSize
from pie_mlx.engine.embedding.queue import EncoderQueue
from pie_mlx.engine.model.encoders.encoder import EncoderInput
from pie_mlx.engine.scheduler.device_turns import DeviceTurns
from pie_mlx.errors import BatchFailedError


class Device:
    """A runner and an encoder whose pieces end when a test says so."""

    def __init__(self) -> None:
        self.pieces: list[list[int]] = []
        self.open = asyncio.Event()
        self.open.set()
        self.error: Exception | None = None

    async def call(self, work: Callable[[], Any]) -> Any:
        answer = work()
        await self.open.wait()
        if self.error is not None:
            raise self.error
        return answer

    def compute(self, batch: list[EncoderInput], reading: str) -> np.ndarray:
        self.pieces.append([int(one.tokens[0]) for one in batch])
        return np.array([[one.tokens[0], len(one)] for one in batch], np.float32)


@pytest.fixture
async def device() -> Device:
    return Device()


def queue_on(device: Device, most: int = 40, turns: DeviceTurns | None = None) -> EncoderQueue:
    kind: Any = EncoderQueue
    return kind(device, device, PieceSize(1.0, most, most), clock=lambda: 0.0, turns=turns)


def text(number: int, length: int = 10) -> EncoderInput:
    return EncoderInput([number] * length)


async def test_each_text_gets_its_own_row_whatever_the_order_of_lengths(device: Device) -> None:
    queue = queue_on(device)
    rows = await queue.run("ada", [text(number, 1 + (number * 7) % 13) for number in range(50)], "mean")
    assert [(int(row[0]), int(row[1])) for row in rows] == [(number, 1 + (number * 7) % 13) for number in range(50)]
    assert all(len(piece) > 1 for piece in device.pieces[:5])
    assert queue.waiting == 0


async def test_users_are_served_in_turn_and_share_pieces(device: Device) -> None:
    device.open.clear()
    queue = queue_on(device, most=20)
    many = asyncio.ensure_future(queue.run("ada", [text(number) for number in range(8)], "mean"))
    await asyncio.sleep(0)
    one = asyncio.ensure_future(queue.run("bob", [text(100, 18)], "mean"))
    await asyncio.sleep(0)
    device.open.set()
    await asyncio.gather(many, one)
    assert device.pieces[2] == [100]
    assert max(map(len, device.pieces)) == 2


async def test_texts_that_are_given_up_are_computed_no_further(device: Device) -> None:
    device.open.clear()
    queue = queue_on(device, most=20)
    given_up = asyncio.ensure_future(queue.run("ada", [text(number) for number in range(8)], "mean"))
    kept = asyncio.ensure_future(queue.run("bob", [text(50)], "mean"))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    given_up.cancel()
    device.open.set()
    assert int((await kept)[0][0]) == 50
    assert len(device.pieces) <= 2
    assert queue.waiting == 0


async def test_other_readings_are_other_pieces(device: Device) -> None:
    queue = queue_on(device)
    await asyncio.gather(queue.run("ada", [text(1)], "mean"), queue.run("ada", [text(2)], "cls"))
    assert sorted(device.pieces) == [[1], [2]]


async def test_a_piece_that_fails_fails_its_texts_alone(device: Device) -> None:
    queue = queue_on(device)
    device.error = RuntimeError("[METAL] no")
    with pytest.raises(BatchFailedError, match="the device failed"):
        await queue.run("ada", [text(1)], "mean")
    device.error = None
    assert len(await queue.run("ada", [text(2)], "mean")) == 1


async def test_what_waits_when_the_engine_stops_is_told(device: Device) -> None:
    device.open.clear()
    queue = queue_on(device)
    waits = asyncio.ensure_future(queue.run("ada", [text(1)], "mean"))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    later = asyncio.ensure_future(queue.run("bob", [text(2, 13)], "cls"))
    await asyncio.sleep(0)
    await queue.stop()
    for one in (waits, later):
        with pytest.raises(BatchFailedError, match="stopped"):
            await one
    assert device.pieces == [[1]]


async def _begun() -> None:
    for _ in range(5):  # turns of the loop, in which a task gets to its wait
        await asyncio.sleep(0)


async def test_another_model_that_wants_the_device_has_it_between_two_pieces(device: Device) -> None:
    turns = DeviceTurns(lambda: 1.0 * len(device.pieces))  # of a second each
    queue = queue_on(device, turns=turns)
    device.open.clear()
    texts = asyncio.create_task(queue.run("ada", [text(number) for number in range(12)], "mean"))
    await _begun()
    other = asyncio.create_task(turns.take("decoder", 0.0))
    await asyncio.sleep(0)
    device.open.set()
    assert await other
    assert (len(device.pieces), queue.waiting) == (1, 8)
    turns.give("decoder")
    assert len(await texts) == 12
    assert not await turns.take("decoder", 0.0)


async def test_texts_that_are_cancelled_while_another_model_has_the_device_are_not_computed(device: Device) -> None:
    turns = DeviceTurns()
    queue = queue_on(device, turns=turns)
    await turns.take("decoder", 0.0)
    texts = asyncio.create_task(queue.run("ada", [text(1)], "mean"))
    await _begun()
    texts.cancel()
    await asyncio.gather(texts, return_exceptions=True)
    turns.give("decoder")
    assert len(await queue.run("ada", [text(2)], "mean")) == 1
    assert device.pieces == [[2]]
