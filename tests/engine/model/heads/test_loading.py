"""Draft heads of each family: found in published files, and computed on pages as in plain MLX."""

from dataclasses import replace
from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest

from pie_mlx.calls import Sampler
from pie_mlx.engine.model.heads.families import FAMILIES
from pie_mlx.engine.model.heads.loading import load_head
from pie_mlx.engine.model.loaded import HeadModel, LoadedModel
from pie_mlx.engine.model.loading.load import load_model
from pie_mlx.engine.model.loading.sources import weight_files
from pie_mlx.engine.model.runner.batch import BatchEntry, LogitsRequest, step_input
from tests.engine.model.heads.raw import WIDTH, RawHead, write_model_with_head

LENGTHS, TABLES = (13, 6), ([2, 0], [1])
READ = LogitsRequest(0, Sampler.argmax())


def entry(context: int, tokens: np.ndarray, start: int, stop: int) -> BatchEntry:
    places = range(start, stop)
    return BatchEntry(
        context=context,
        tokens=tokens[start:stop].tolist(),
        positions=list(places),
        slots=[TABLES[context][place // 16] * 16 + place % 16 for place in places],
        block_table=TABLES[context],
        kv_length=stop,
        reads=tuple(replace(READ, index=index) for index in range(stop - start)),
    )


def on_pages(head: HeadModel, tokens: list[np.ndarray], hidden: list[mx.array]) -> list[list[mx.array]]:
    """Logits of two contexts' tokens, read in three steps of different lengths."""
    found: list[list[mx.array]] = [[], []]
    for cuts in ((0, 5), (5, 6), (6, 99)):
        entries = [entry(one, tokens[one], min(cuts[0], n), min(cuts[1], n)) for one, n in enumerate(LENGTHS)]
        entries = [each for each in entries if each.tokens]
        step, _, _ = step_input(entries)
        states = [hidden[each.context][each.positions[0] : each.positions[-1] + 1] for each in entries]
        logits = head.forward(step, mx.concatenate(states))
        head.model.finish(logits)
        start = 0
        for each in entries:
            found[each.context].append(logits[start : start + len(each.tokens)])
            start += len(each.tokens)
    return found


def loaded_head(raw: RawHead, trunk: object) -> HeadModel:
    files = weight_files(raw.directory)
    found = load_head(raw.directory, files, trunk, raw.config, raw.architecture, mx.float32, lambda _: None)  # type: ignore[arg-type]
    assert found is not None
    card = load_model("pie-tiny", name="any").card
    model = LoadedModel(replace(card, weight_bytes=found.weight_bytes), found.network)
    model.allocate(pages=3)
    return HeadModel(model, found.network, found.embedding)


@pytest.mark.parametrize("architecture", sorted(FAMILIES))
def test_a_head_computes_on_pages_what_its_layers_do(tmp_path: Path, architecture: str) -> None:
    raw = write_model_with_head(tmp_path, architecture)
    trunk = raw.trunk
    random = np.random.default_rng(5)
    tokens = [random.integers(0, 300, count) for count in LENGTHS]
    hidden = [mx.array(random.standard_normal((count, WIDTH)), mx.float32) for count in LENGTHS]
    expected = [raw.logits(trunk, *each) for each in zip(tokens, hidden, strict=True)]
    found = on_pages(loaded_head(raw, trunk), tokens, hidden)
    for wanted, parts in zip(expected, found, strict=True):
        error = mx.abs(mx.concatenate(parts) - wanted).max() / mx.abs(wanted).max()
        assert float(error) < 2e-5
