"""What the draft model guesses, and what it has to read for that."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest

from inferlet import Context
from pie_mlx.calls import Sampler
from pie_mlx.engine.speculation.draft_model import DraftModelRunner, Guess
from pie_mlx.engine.speculation.drafting import DraftRow
from pie_mlx.engine.text.logit_mask import allowed_next
from tests.engine.running import Running

T = TypeVar("T")
NOWHERE = DraftRow((), None)


def desk_of(engine: Running) -> DraftModelRunner:
    desk = engine.core.services.drafts.model
    assert desk is not None
    return desk


async def on_loop(engine: Running, work: Coroutine[Any, Any, T]) -> T:
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, engine.core.loop))


def wish(context: int, text: list[int], held: int, most: int = 6, **more: Any) -> Guess:
    defaults: dict[str, Any] = {"sampler": Sampler.argmax(), "stream": 0, "counter": 0, "first": NOWHERE}
    return Guess(context, held, text[held:], lambda count: text[held - count : held], most, **(defaults | more))


async def plain(engine: Running, prompt: list[int], tokens: int, sampler: Sampler) -> list[int]:
    with Context(engine.model) as context:
        context.append(prompt)
        return await context.generate(sampler, max_tokens=tokens, stop=[], auto_flush=False).collect_tokens()


def forget(engine: Running, *contexts: int) -> None:
    for context in contexts:
        engine.core.loop.call_soon_threadsafe(desk_of(engine).forget, context)


@pytest.mark.parametrize(
    "sampler", [Sampler.argmax(), Sampler.multinomial(1.0, seed=5), Sampler.top_p(0.9, 0.9, seed=6)]
)
async def test_the_model_itself_guesses_what_will_be_drawn(knowing: Running, sampler: Sampler) -> None:  # L6
    prompt = knowing.prompt(20, 1)
    expected = await plain(knowing, prompt, 10, sampler)
    found = await on_loop(
        knowing, desk_of(knowing).guess(wish(-1, prompt, 19, 10, sampler=sampler, stream=sampler.seed or 0))
    )
    assert found.tokens == expected
    assert found.seconds > 0
    forget(knowing, -1)


async def test_contexts_that_ask_together_share_steps(knowing: Running) -> None:
    prompts = {-1 - number: knowing.prompt(10 + 5 * number, number) for number in range(5)}
    desk = desk_of(knowing)
    alone = [(await on_loop(knowing, desk.guess(wish(one, text, 4)))).tokens for one, text in prompts.items()]
    forget(knowing, *prompts)

    async def together() -> list[list[int]]:
        found = await asyncio.gather(*(desk.guess(wish(one, text, 4)) for one, text in prompts.items()))
        return [guesses.tokens for guesses in found]

    assert await on_loop(knowing, together()) == alone
    forget(knowing, *prompts)


async def test_what_was_missed_is_caught_up_on(knowing: Running) -> None:
    text, desk = knowing.prompt(90, 2), desk_of(knowing)
    await on_loop(knowing, desk.guess(wish(-1, text[:20], 19)))
    late = await on_loop(knowing, desk.guess(wish(-1, text, 89)))
    fresh = await on_loop(knowing, desk.guess(wish(-2, text, 89)))
    assert late.tokens == fresh.tokens
    forget(knowing, -1, -2)


async def test_wrong_guesses_leave_nothing_after(knowing: Running) -> None:
    text, desk = knowing.prompt(30, 3), desk_of(knowing)
    first = await on_loop(knowing, desk.guess(wish(-1, text, 29)))
    other = [*text, first.tokens[0], first.tokens[1] ^ 1]
    found = await on_loop(knowing, desk.guess(wish(-1, other, 31)))
    fresh = await on_loop(knowing, desk.guess(wish(-2, other, 31)))
    assert found.tokens == fresh.tokens
    forget(knowing, -1, -2)


async def test_a_fork_guesses_from_what_its_origin_has_read(knowing: Running) -> None:
    text, desk = knowing.prompt(40, 4), desk_of(knowing)
    first = await on_loop(knowing, desk.guess(wish(-1, text, 39)))
    desk.sequences.fork(-1, -2)
    assert desk.sequences.length(-2) == 32
    assert (await on_loop(knowing, desk.guess(wish(-2, text, 39)))).tokens == first.tokens
    forget(knowing, -1, -2)


async def test_guesses_end_with_a_stop_token(knowing: Running) -> None:
    text, desk = knowing.prompt(20, 1), desk_of(knowing)
    whole = (await on_loop(knowing, desk.guess(wish(-1, text, 19, 8)))).tokens
    cut = (await on_loop(knowing, desk.guess(wish(-1, text, 19, 8, stop_tokens=[whole[3]])))).tokens
    assert cut == whole[: whole.index(whole[3]) + 1]
    forget(knowing, -1)


async def test_guesses_keep_to_the_mask(knowing: Running) -> None:  # V7
    import numpy as np

    mask = np.zeros(2048 // 32, np.uint32)
    mask[3] = 0b1010
    text, first = knowing.prompt(20, 1), DraftRow((), allowed_next([], mask))
    found = await on_loop(knowing, desk_of(knowing).guess(wish(-1, text, 19, 8, first=first, fixed=mask)))
    assert len(found.tokens) == 8
    assert set(found.tokens) <= {97, 99}
    forget(knowing, -1)


async def test_nothing_is_guessed_beyond_the_positions_of_the_draft_model(ignorant: Running) -> None:
    text = ignorant.prompt(254)
    found = await on_loop(ignorant, desk_of(ignorant).guess(wish(-1, text, 253, 8)))
    assert len(found.tokens) == 3
    forget(ignorant, -1)


async def test_a_guess_nobody_waits_for_any_more_harms_nobody(knowing: Running) -> None:  # E5
    text, desk = knowing.prompt(40, 5), desk_of(knowing)

    async def give_up() -> list[int]:
        task = asyncio.create_task(desk.guess(wish(-1, text, 39, 16)))
        other = asyncio.create_task(desk.guess(wish(-2, text, 39, 4)))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        desk.forget(-1)
        return (await other).tokens

    assert len(await on_loop(knowing, give_up())) == 4
    knowing.check_books()
    assert -1 not in desk.sequences
    forget(knowing, -2)
