"""What is wrong with an adapter is said; nobody else notices."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from inferlet import Adapter, Context, Sampler, zo
from pie_mlx import calls
from pie_mlx.errors import (
    AdapterFormatError,
    AdapterShapeError,
    BatchFailedError,
    InvalidArgumentError,
    InvalidTypeError,
    PieError,
)
from tests.engine.adapters.folders import random_pairs, write_mlx_lm, write_peft
from tests.engine.adapters.test_adapters import loaded, written
from tests.engine.running import Running

Folder = Callable[[int], Path]


def other_shape(root: Path) -> Path:
    pairs = {path: (down[:100], up) for path, (down, up) in random_pairs(1).items()}
    return write_mlx_lm(root, pairs)


def missing_tensor(root: Path) -> Path:
    folder = write_peft(root, random_pairs(1))
    weights = folder / "adapter_model.safetensors"
    data = weights.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    header.pop(next(name for name in header if "lora_B" in name))
    text = json.dumps(header).encode()
    weights.write_bytes(len(text).to_bytes(8, "little") + text + data[8 + length :])
    return folder


def truncated(root: Path) -> Path:
    folder = write_mlx_lm(root, random_pairs(1))
    weights = folder / "adapters.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1000])
    return folder


def rank_zero(root: Path) -> Path:
    return write_peft(root, random_pairs(1, rank=0), rank=0)


def empty(root: Path) -> Path:
    folder = write_mlx_lm(root, random_pairs(1))
    (folder / "adapters.safetensors").write_bytes(b"")
    return folder


def without_weights(root: Path) -> Path:
    folder = write_mlx_lm(root, random_pairs(1))
    (folder / "adapters.safetensors").unlink()
    return folder


def without_config(root: Path) -> Path:
    folder = write_mlx_lm(root, random_pairs(1))
    (folder / "adapter_config.json").unlink()
    return folder


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (other_shape, AdapterShapeError),
        (missing_tensor, AdapterFormatError),
        (truncated, AdapterFormatError),
        (rank_zero, AdapterFormatError),
        (empty, AdapterFormatError),
        (without_weights, AdapterFormatError),
        (without_config, FileNotFoundError),
    ],
)
async def test_a_load_that_fails_changes_nothing(  # A3, E3
    engine: Running, folder: Folder, tmp_path: Path, make: Callable[[Path], Path], error: type[Exception]
) -> None:
    adapter = loaded(engine, folder(1))
    expected = await written(engine, adapter, tokens=16)
    stream = asyncio.create_task(written(engine, adapter, tokens=16))
    with pytest.raises(error):
        adapter.load(make(tmp_path / "bad"))
    assert await stream == expected
    assert await written(engine, adapter, tokens=16) == expected


async def test_an_adapter_that_overflows_fails_its_own_rows_only(  # L5, E4
    engine: Running, folder: Folder, tmp_path: Path
) -> None:
    expected = await written(engine, None)
    bad = loaded(engine, write_mlx_lm(tmp_path / "huge", random_pairs(1, size=1e30)), "huge")
    good = loaded(engine, folder(1), "good")
    others = await written(engine, good)
    with Context(engine.model) as context:
        fails = context.append([7]).generate(Sampler.argmax(), max_tokens=4, stop=[], auto_flush=False, adapter=bad)
        found = await asyncio.gather(
            written(engine, None), fails.collect_tokens(), written(engine, good), return_exceptions=True
        )
        assert (found[0], found[2]) == (expected, others)
        assert isinstance(found[1], BatchFailedError)
        assert found[1].cause == "non-finite logits"
        assert (context.seq_len, context.buffer()) == (0, [7])
        assert len(await engine.greedy(context, 3)) == 3


async def test_a_seed_needs_an_adapter(engine: Running) -> None:  # Z2
    with Context(engine.model) as context, pytest.raises(InvalidArgumentError, match="no adapter"):
        await context.append([7]).generate(Sampler.argmax(), zo_seed=3, max_tokens=1).collect_tokens()


async def test_a_seed_needs_an_adapter_that_evolves(engine: Running, folder: Folder) -> None:  # Z2
    adapter = loaded(engine, folder(1))
    with Context(engine.model) as context:
        forward = context.forward().input([7]).adapter(adapter).zo_seed(3)
        with pytest.raises(InvalidArgumentError, match="not initialised"):
            await forward.execute()
        assert context.seq_len == 0
        zo.initialize(adapter)
        adapter.load(folder(1))
        with pytest.raises(InvalidArgumentError, match="not initialised"):
            await forward.execute()


@pytest.mark.parametrize("seed", [1 << 63, -(1 << 63) - 1])
async def test_a_seed_has_64_bits(engine: Running, seed: int) -> None:  # Z2
    adapter = Adapter.create(engine.model, "zo")
    zo.initialize(adapter)
    with Context(engine.model) as context:
        tokens, slots = engine.prompt(20), [calls.Slot(0, Sampler.argmax())]
        with pytest.raises(InvalidArgumentError, match="64 bits"):
            await engine.host.submit(calls.Forward(context.id, tokens, slots=slots, adapter=adapter.id, zo_seed=seed))
        assert context.seq_len == 0


async def test_a_pass_that_is_refused_leaves_the_context_as_it_was(engine: Running) -> None:  # E3
    adapter = Adapter.create(engine.model, "gone")
    context = Context(engine.model).append([7, 8])
    adapter.destroy()
    with pytest.raises(PieError):
        await context.generate(Sampler.argmax(), max_tokens=1, adapter=adapter, auto_flush=False).collect_tokens()
    assert (context.buffer(), context.seq_len) == ([7, 8], 0)


@pytest.mark.parametrize(
    "options",
    [
        {"rank": 0},
        {"rank": 5000},
        {"alpha": 0.0},
        {"alpha": float("nan")},
        {"population_size": 1},
        {"mu_fraction": 0.0},
        {"mu_fraction": 1.5},
        {"initial_sigma": -1.0},
        {"initial_sigma": float("inf")},
        {"targets": ["attention"]},
        {"targets": []},
        {"targets": ["q_proj"] * 65},
    ],
    ids=str,
)
async def test_an_initialisation_out_of_range_is_refused(engine: Running, options: dict[str, object]) -> None:  # Z1
    adapter = Adapter.create(engine.model, "zo")
    with pytest.raises(InvalidArgumentError):
        zo.initialize(adapter, **options)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match="not initialised"):
        zo.update(adapter, [1.0], [1], 0.1)


async def test_a_single_target_is_no_list_of_letters(engine: Running) -> None:
    adapter = Adapter.create(engine.model, "zo")
    with pytest.raises(InvalidTypeError, match="targets: got the text 'q_proj'"):
        zo.initialize(adapter, targets="q_proj")


@pytest.mark.parametrize(
    ("scores", "seeds", "max_sigma"),
    [
        ([1.0, 2.0], [1, 2, 3], 0.1),
        ([1.0, 2.0], [1, 2], 0.1),
        ([1.0, 2.0, 3.0], [1, 2, 2], 0.1),
        ([1.0, 2.0, 3.0], [0, 1, 2], 0.1),
        ([1.0, float("nan"), 3.0], [1, 2, 3], 0.1),
        ([1.0, float("inf"), 3.0], [1, 2, 3], 0.1),
        ([1.0, 2.0, 3.0], [1, 2, 3], 0.0),
        ([1.0, 2.0, 3.0], [1, 2, 1 << 63], 0.1),
    ],
)
async def test_an_update_that_does_not_fit_is_refused(  # Z4
    engine: Running, scores: list[float], seeds: list[int], max_sigma: float
) -> None:
    adapter = Adapter.create(engine.model, "zo")
    zo.initialize(adapter, population_size=3)
    registry = engine.core.services.adapters
    before = registry.find("tester", adapter.id).state()
    with pytest.raises(InvalidArgumentError):
        zo.update(adapter, scores, seeds, max_sigma)
    again = Adapter.open(engine.model, "zo")
    assert again is not None
    assert registry.find("tester", again.id).state() == before


async def test_parts_out_of_order_are_refused(engine: Running) -> None:
    adapter = Adapter.create(engine.model, "a").id
    send, host = engine.host.call, engine.host
    for message in (
        calls.LoadAdapter(adapter, "{}", 10, 5, b"12345"),
        calls.LoadAdapter(adapter, "{}", 10, 0, b"12345678901"),
        calls.ReadAdapter(adapter, 5),
    ):
        with pytest.raises(InvalidArgumentError):
            send(message)
    send(calls.LoadAdapter(adapter, "{}", 10, 0, b"12345"))
    with pytest.raises(InvalidArgumentError):
        host.call(calls.LoadAdapter(adapter, "{}", 10, 4, b"1"))


async def test_weights_that_do_not_fit_the_memory_are_refused_before_they_come(engine: Running) -> None:
    adapter = Adapter.create(engine.model, "a").id
    with pytest.raises(PieError, match="MiB are free"):
        engine.host.call(calls.LoadAdapter(adapter, "{}", 1 << 50, 0, b"1"))
