"""States of recurrent layers, kept within a limit."""

from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.engine.kv import KeptState, KeptStates


def kept(states: KeptStates, name: str, size: int, *, wanted: bool = False) -> KeptState:
    found = states.keep(name, 1, size)
    assert found is not None
    states.retain(found, wanted=wanted)
    return found


def test_a_state_larger_than_the_limit_is_not_kept_and_costs_no_other() -> None:
    states = KeptStates(100)
    small = kept(states, "small", 60)
    assert states.keep("large", 1, 101) is None
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


@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from(["keep", "use", "release"]), st.integers(1, 40))))
def test_the_least_recently_used_are_dropped_within_the_limit(steps: list[tuple[int, str, int]]) -> None:
    states, held, order = KeptStates(64), dict[int, KeptState](), list[int]()
    for number, step, size in steps:
        known = held.get(number)
        if step == "keep" and known is None:
            held[number] = kept(states, str(number), size)
            order.append(number)
            while sum(held[each].size_bytes for each in order) > 64:
                del order[0]
        elif known is not None and step == "use":
            assert states.use(known) == (str(number) if number in order else None)
            order.sort(key=lambda each: each == number)
        elif known is not None and step == "release":
            states.release(held.pop(number))
            order = [each for each in order if each != number]
    assert {number for number, found in held.items() if found.state is not None} == set(order)
    assert states.size_bytes == sum(held[number].size_bytes for number in order)
