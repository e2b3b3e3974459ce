"""What batches computed, whoever tells."""

from pie_mlx.events import TickCompleted
from pie_mlx.tui.model.throughput import Throughput

TICK = TickCompleted(1, 3, 20, 0, 0.5, decoded_tokens=12, prompt_tokens=6)
OLD_TICK = TickCompleted(1, 3, 20, 0, 0.5)


def test_a_tick_tells_what_it_decoded_and_read():
    told = Throughput().ticked(TICK).passed(12)
    assert (told.decoded_tokens, told.prompt_tokens) == (12, 6)


def test_beside_ticks_of_an_older_engine_the_passes_tell():
    told = Throughput().ticked(OLD_TICK).passed(12)
    assert (told.decoded_tokens, told.prompt_tokens) == (12, 8)


def test_a_sample_begins_anew_and_remembers_who_tells():
    assert Throughput().ticked(TICK).sampled() == Throughput()
    assert Throughput().ticked(OLD_TICK).sampled().passed(2).decoded_tokens == 2
