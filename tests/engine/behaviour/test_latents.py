"""Models whose layers attend to one latent per token: pages hold it, and everything pages promise holds for it."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from mlx_lm.utils import load_model as load_peer

from benchmarks.architectures import reference_greedy
from inferlet import Context, Sampler, Speculator
from pie_mlx.events import PassCompleted
from tests.engine.behaviour.test_speculation import Guessing
from tests.engine.paging.spill.test_spill import displace, free_disk, restored  # noqa: F401
from tests.engine.running import Running, running

LENGTH, WRITTEN = 70, 16
Peer = Callable[[list[int]], list[int]]


@pytest.fixture(scope="module", params=["deepseek_v3", "longcat_flash"])
def directory(request: pytest.FixtureRequest, tiny_model_directory: Callable[[str], Path]) -> Path:
    return tiny_model_directory(request.param)


@pytest.fixture(scope="module")
def peer(directory: Path) -> Peer:
    """What mlx-lm writes after a prompt."""
    model, _ = load_peer(directory)
    return lambda prompt: reference_greedy(model, prompt, WRITTEN)


@pytest.fixture
def engine(directory: Path) -> Iterator[Running]:
    with running(model=str(directory), total_pages=48, prefill_chunk_tokens=48) as engine:
        yield engine


def prompt(seed: int, tokens: int = LENGTH) -> list[int]:
    return [5 + (seed * 37 + place * 11 + place * place % 7) % 200 for place in range(tokens)]


async def written(context: Context, drafts: Speculator | None = None) -> list[int]:
    settings = {"max_tokens": WRITTEN, "stop": [], "auto_flush": False}
    return await context.generate(Sampler.argmax(), speculator=drafts, **settings).collect_tokens()


async def test_an_equal_prompt_attaches_its_pages(engine: Running, peer: Peer) -> None:
    assert "latents" in engine.core.services.runner.model.tier
    expected = peer(prompt(1))
    for attached in (0, 64):
        with Context(engine.model) as context:
            assert await written(context.append(prompt(1))) == expected
        passes = [event for event in engine.events if isinstance(event, PassCompleted)]
        assert max(each.attached_tokens for each in passes) == attached


async def test_forks_go_on_beside_a_prompt_of_another(engine: Running, peer: Peer) -> None:
    source = Context(engine.model)
    await source.append(prompt(1)).flush()
    child, other = source.fork(), Context(engine.model)
    texts = [(child, [9]), (source, [8]), (other, prompt(2, 21))]
    found = await asyncio.gather(*(written(context.append(tokens)) for context, tokens in texts))
    assert found == [peer([*prompt(1), 9]), peer([*prompt(1), 8]), peer(prompt(2, 21))]


async def test_a_truncated_context_goes_on_from_what_is_left(engine: Running, peer: Peer) -> None:
    context = Context(engine.model)
    await context.append([*prompt(1), *prompt(3, 9)]).flush()
    context.truncate(9)
    assert await written(context.append([7])) == peer([*prompt(1), 7])


async def test_a_snapshot_goes_on_where_it_was_saved(engine: Running, peer: Peer) -> None:
    with Context(engine.model) as context:
        await context.append(prompt(1)).flush()
        context.save("latents")
    opened = Context.take(engine.model, "latents")
    assert opened is not None
    assert await written(opened.append([7])) == peer([*prompt(1), 7])


async def test_a_suspended_context_comes_back_from_the_disk(
    directory: Path,
    peer: Peer,
    tmp_path: Path,
    free_disk: None,  # noqa: F811
) -> None:
    with running(model=str(directory), total_pages=8, spill_directory=str(tmp_path)) as engine:
        context = Context(engine.model)
        await context.append(prompt(1)).flush()
        context.suspend()
        await displace(engine)
        assert await written(context.append([7])) == peer([*prompt(1), 7])
        assert restored(engine).read_pages >= 4


async def test_drafts_save_passes_and_change_no_token(engine: Running, peer: Peer) -> None:
    expected = peer(prompt(1))
    with Context(engine.model) as context:
        drafts = Guessing(context.append(prompt(1)), expected, [3], {5})
        assert await written(context, drafts) == expected
    assert drafts.steps < WRITTEN
