"""A model's own draft head: the tokens of plain decoding, whatever it guesses and whatever happens to the context."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inferlet import Context, Regex, Sampler
from pie_mlx.engine.speculation.drafting import Allowance, WindowCost
from pie_mlx.engine.speculation.drafting.cooldown import Cooldown
from pie_mlx.errors import BatchFailedError, InvalidArgumentError
from pie_mlx.events import PassCompleted
from tests.engine.acts import PENALIZED
from tests.engine.model.heads.raw import write_model_with_head
from tests.engine.running import Running, engine_alone, finished, in_context, small_prompt

GREEDY = Sampler.argmax()
SAMPLERS = [GREEDY, PENALIZED, Sampler.top_p(0.8, 0.95, seed=3)]


@pytest.fixture(scope="module")
def always_guessing() -> Iterator[None]:
    """Heads guess whether it pays or not."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(WindowCost, "steps", lambda cost, contexts, drafts=None: 0.1)
        patched.setattr(Allowance, "step", lambda allowance: True)
        patched.setattr(Cooldown, "step", lambda cooldown: False)
        yield


@pytest.fixture(scope="module")
def hybrid(tmp_path_factory: pytest.TempPathFactory, always_guessing: None) -> Iterator[Running]:
    """Recurrent layers, full attention, experts, and a head of random weights."""
    folder: Path = tmp_path_factory.mktemp("hybrid")
    raw = write_model_with_head(folder, "qwen3_next")
    with engine_alone(model=str(raw.directory), total_pages=256) as started:
        yield started


async def written(engine: Running, prompt: list[int], **options: Any) -> list[int]:
    with Context(engine.model) as context:
        context.append(prompt)
        wanted = {"sampler": GREEDY, "max_tokens": 16, "stop": [], "auto_flush": False, **options}
        return await context.generate(wanted.pop("sampler"), **wanted).collect_tokens()


@given(
    length=st.integers(1, 40),
    seed=st.integers(0, 50),
    sampler=st.sampled_from(SAMPLERS),
    constrain=st.sampled_from([None, None, Regex(r"([a-z]{1,6} ){2,6}\.")]),
    source=st.sampled_from(["mtp", "auto"]),
)
@settings(max_examples=8)
def test_a_head_gives_what_plain_decoding_gives(
    shared_engine: Running,
    always_guessing: None,
    length: int,
    seed: int,
    sampler: Sampler,
    constrain: Regex | None,
    source: str,
) -> None:  # T38, L6
    async def compare(engine: Running) -> None:
        prompt, options = engine.prompt(length, seed), {"sampler": sampler, "constrain": constrain}
        assert await written(engine, prompt, speculation=source, **options) == await written(engine, prompt, **options)

    with shared_engine.process() as host:
        engine = Running(shared_engine.core, shared_engine.events, host)
        finished(in_context(engine, compare(engine)))
    shared_engine.check_books()


@given(
    cuts=st.lists(st.integers(1, 7), min_size=1, max_size=4),
    forgets=st.lists(st.integers(0, 5), min_size=4, max_size=4),
    plain=st.lists(st.booleans(), min_size=4, max_size=4),
    sampler=st.sampled_from([GREEDY, Sampler.multinomial(0.9, seed=5)]),
)
@settings(max_examples=6)
def test_a_hybrid_with_a_head_goes_on_as_without_it(
    hybrid: Running, cuts: list[int], forgets: list[int], plain: list[bool], sampler: Sampler
) -> None:  # T38
    async def told(source: str | None) -> list[list[int]]:
        texts: list[list[int]] = []
        with Context(hybrid.model) as context:
            context.append(small_prompt(20))
            for count, forgotten, is_plain in zip(cuts, forgets, plain, strict=False):
                asked: Any = None if is_plain else source
                generator = context.generate(sampler, max_tokens=count, stop=[], auto_flush=False, speculation=asked)
                texts.append(await generator.collect_tokens())
                with context.fork() as branch:
                    options: Any = {"max_tokens": 3, "stop": [], "auto_flush": False, "speculation": asked}
                    texts.append(await branch.generate(sampler, **options).collect_tokens())
                context.truncate(min(forgotten, context.seq_len % 16))
        return texts

    async def compare() -> None:
        expected = await told(None)
        assert await told("mtp") == expected

    finished(in_context(hybrid, compare()))
    hybrid.check_books()


async def test_streams_share_the_steps_of_the_head(hybrid: Running) -> None:
    async def compare() -> None:
        prompts = [small_prompt(10 + 9 * stream, stream) for stream in range(3)]
        alone = [await written(hybrid, prompt) for prompt in prompts]
        hybrid.events.clear()
        together = await asyncio.gather(*(written(hybrid, prompt, speculation="mtp") for prompt in prompts))
        assert together == alone
        passes = [event for event in hybrid.events if isinstance(event, PassCompleted)]
        assert sum(one.guessed_tokens for one in passes) > 16

    await in_context(hybrid, compare())


async def test_a_step_of_the_head_that_fails_is_an_error_and_the_next_one_goes_on(
    engine: Running, always_guessing: None, monkeypatch: pytest.MonkeyPatch
) -> None:  # E4
    def fail(head: object, rows: object) -> None:
        raise IndexError("list index out of range")

    prompt = engine.prompt(9)
    with monkeypatch.context() as broken:
        broken.setattr("pie_mlx.engine.speculation.draft_head.runner.write", fail)
        with pytest.raises(BatchFailedError, match="IndexError"):
            await written(engine, prompt, speculation="mtp")
    assert await written(engine, prompt, speculation="mtp") == await written(engine, prompt)


async def test_what_is_not_there_cannot_be_asked_for(engine: Running) -> None:
    with pytest.raises(InvalidArgumentError, match="'draft_model' was asked for"):
        await written(engine, engine.prompt(9), speculation="draft_model")
    with pytest.raises(InvalidArgumentError, match="none of auto, ngram"):
        await written(engine, engine.prompt(9), speculation="telepathy")
