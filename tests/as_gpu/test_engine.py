"""Tests of the engine where the branches of a GPU differ, once more."""

# ruff: noqa: F401, F403

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.engine.behaviour.test_draft_trees import (
    test_a_branch_that_lies_elsewhere_is_computed_again,
    test_a_sliding_window_gets_the_first_branch_only,
    test_either_branch_may_be_right,
)
from tests.engine.behaviour.test_forward import *
from tests.engine.model.runner.test_drawing import *
from tests.engine.model.runner.test_pipeline import (
    directory,
    model,
    test_a_step_after_one_that_was_not_wanted_writes_the_pool_in_place,
    test_a_step_that_fails_takes_the_one_after_it_along,
    test_a_step_that_was_built_and_is_not_wanted_leaves_no_trace,
    test_a_token_that_is_drawn_again_takes_along_what_was_begun_on_another,
    test_steps_at_once_draw_what_single_steps_draw,
    test_steps_at_once_leave_the_pool_where_it_is,
    test_the_next_step_is_built_while_one_is_computed,
)
from tests.engine.paging.spill.test_spill import (
    damaged,
    free_disk,
    small,
    test_a_reclaimed_snapshot_is_read_back,
    test_damaged_pages_are_computed_again,
    test_spilled_pages_come_back_bit_for_bit,
)
from tests.engine.scheduler.test_claims import (
    ahead,
    behind,
    test_a_step_of_another_kind_is_not_what_was_computed_ahead,
    test_another_sampler_or_mask_is_read_from_what_was_computed_ahead,
    test_grammars_run_ahead_and_allow_the_same,
    test_the_hidden_state_of_a_step_computed_ahead_is_that_of_the_step,
)
from tests.engine.scheduler.test_gangs import test_every_way_of_a_gang_draws_what_probes_of_its_contexts_give
from tests.parity.test_greedy import test_greedy_text_equals_mlx_lm as compare_greedy_text
from tests.parity.test_hidden_states import test_hidden_states_of_a_batch_equal_mlx_lm as compare_hidden_states
from tests.parity.test_memory import *

ARCHITECTURES = ["llama", "gemma3", "gpt_oss", "deepseek_v3", "qwen3_next"]
"""Windows, sinks, attention over gathered pages, recurrent layers."""


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_greedy_text_equals_mlx_lm(architecture: str, tiny_model_directory: Callable[[str], Path]) -> None:
    compare_greedy_text(architecture, tiny_model_directory)


@pytest.mark.parametrize("architecture", ["llama", "gpt_oss"])
def test_hidden_states_equal_mlx_lm(architecture: str, tiny_model_directory: Callable[[str], Path]) -> None:
    compare_hidden_states(architecture, tiny_model_directory)
