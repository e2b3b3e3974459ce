"""States of recurrent layers, kept within a limit."""

from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.engine.kv import KeptState, KeptStates


def kept(states: KeptStates, name: str, size: int, *, saves: int = 1, wanted: bool = False) -> KeptState:
    found = states.keep(name, saves, size, saves)
    assert found is not None
    states.retain(found, wanted=wanted)
    return found


def test_a_state_larger_than_the_limit_is_not_kept_and_costs_no_other() -> None:
    states = KeptStates(100)
    small = kept(states, "small", 60)
    assert states.keep("large", 1, 101, 1) is None
    assert small.state == "small"


def test_one_without_holders_is_forgotten() -> None:
    states = KeptStates(100)
    found = kept(states, "a", 60)
    states.retain(found)
    states.release(found)
    assert states.size_bytes == 60
    states.release(found)
    assert (states.size_bytes, len(states)) == (0, 0)


def test_what_an_image_wants_is_to_be_saved_once_it_is_dropped() -> None:  # R3
    states = KeptStates(100)
    wanted, other = kept(states, "wanted", 40, wanted=True), kept(states, "other", 40)
    states.clear()
    assert states.pop_lost() == [(wanted, "wanted")]
    states.mark_spilled(wanted, "key")
    states.release(wanted, wanted=True)
    assert (wanted.state, other.state) == (None, None)
    assert states.pop_released() == ["key"]
    assert states.pop_released() == []


def test_what_no_image_wants_any_more_is_not_saved() -> None:
    states = KeptStates(100)
    found = kept(states, "gone", 40, wanted=True)
    states.clear()
    states.release(found, wanted=True)
    assert states.pop_lost() == []


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.sampled_from(["keep", "use", "release"]), st.integers(1, 40), st.integers(1, 9))
    )
)
def test_what_saves_the_fewest_tokens_for_its_bytes_is_dropped_first(
    steps: list[tuple[int, str, int, int]],
) -> None:
    states, held, worths, dropped = KeptStates(64), dict[int, KeptState](), dict[int, float](), 0.0
    for number, step, size, saves in steps:
        known = held.get(number)
        if step == "keep" and known is None:
            while sum(held[each].size_bytes for each in worths) + size > 64:
                least = min(worths, key=lambda each: worths[each])
                dropped = worths.pop(least)
            held[number] = kept(states, str(number), size, saves=saves)
        elif known is not None and step == "use":
            assert states.use(known) == (str(number) if number in worths else None)
            if number not in worths:
                continue
        elif known is not None and step == "release":
            states.release(held.pop(number))
            worths.pop(number, None)
            continue
        else:
            continue
        worths.pop(number, None)
        worths[number] = dropped + held[number].uses * held[number].saves / held[number].size_bytes
    assert {number for number, found in held.items() if found.state is not None} == worths.keys()
    assert states.size_bytes == sum(held[number].size_bytes for number in worths)


def test_what_is_used_again_and_again_outlives_much_that_is_used_once() -> None:
    states = KeptStates(100)
    used = kept(states, "used", 10)
    for number in range(40):
        kept(states, str(number), 10)
        states.use(used)
    assert used.state == "used"
    for number in range(2000):
        kept(states, str(number), 10)
    assert used.state is None, "all of them age"
