"""What a step takes besides weights and pages is known before it runs."""

import mlx.core as mx
import pytest
from mlx_lm.models import llama

from benchmarks.tiny_models import tiny_config, tiny_model
from pie_mlx.engine.model.memory import USUAL_BATCH, BatchSize, Transients
from pie_mlx.engine.model.memory.segments import MOST, SEGMENT_BYTES
from pie_mlx.engine.model.networks.paged_network import PagedNetwork

MIB = 1 << 20
LARGE = Transients(row_bytes=5 * MIB, layers=32, vocabulary_size=128_256)
"""A Llama of 8 billion parameters in bfloat16."""


def network(layers: int, **sizes: int) -> PagedNetwork:
    made = llama.Model(
        llama.ModelArgs(
            model_type="llama",
            hidden_size=sizes.get("hidden", 64),
            num_hidden_layers=layers,
            intermediate_size=160,
            num_attention_heads=4,
            num_key_value_heads=2,
            rms_norm_eps=1e-5,
            vocab_size=sizes.get("vocabulary", 96),
        )
    )
    return PagedNetwork(made, "llama")


def test_a_row_takes_what_the_projections_of_all_layers_read_and_answer() -> None:
    queries, keys, values, output, gate, up, down = 64 + 64, 64 + 32, 64 + 32, 64 + 64, 64 + 160, 64 + 160, 160 + 64
    layer = 4 * (queries + keys + values + output + gate + up + down)
    assert network(3).transients == Transients(3 * layer, 3, 96)


def test_the_vocabulary_counts_for_rows_that_are_read_only() -> None:
    assert network(3, vocabulary=960).transients.row_bytes == network(3).transients.row_bytes


def test_every_chosen_expert_counts() -> None:
    def row_bytes(chosen: int) -> int:
        config = tiny_config("mixtral") | {"num_experts_per_tok": chosen}
        return PagedNetwork(tiny_model("mixtral", config), "mixtral").transients.row_bytes

    experts = 4 * 4 * (96 + 96 + 96)  # layers, float32, what the three projections answer for one expert
    assert row_bytes(3) - row_bytes(2) >= experts


def test_a_deeper_model_takes_no_more_at_once() -> None:
    twice = Transients(2 * LARGE.row_bytes, 2 * LARGE.layers, LARGE.vocabulary_size)
    assert twice.step_bytes(BatchSize(2048, 1)) == LARGE.step_bytes(BatchSize(2048, 1))


@pytest.mark.parametrize("rows", [1, 16, 100, 512, 2048, 8192])
def test_a_step_takes_its_segments_and_never_more_than_all_its_layers(rows: int) -> None:
    found = LARGE.step_bytes(BatchSize(rows, 0))
    assert found <= rows * LARGE.row_bytes
    assert found <= (MOST + 1) * (SEGMENT_BYTES + LARGE.layer_bytes(rows))


def test_a_large_batch_of_a_large_model_fits_the_usual_headroom_by_half() -> None:
    assert LARGE.step_bytes(USUAL_BATCH) < 2048 * MIB * 0.55


def test_logits_that_are_read_count() -> None:
    few, many = (LARGE.step_bytes(BatchSize(512, rows)) for rows in (1, 512))
    assert many - few == 511 * 128_256 * mx.float32.size * 4
