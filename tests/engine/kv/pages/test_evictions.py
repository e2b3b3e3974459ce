"""What the engine remembers of pages that it evicted."""

from pie_mlx.engine.kv.pages.evictions import Evictions
from pie_mlx.engine.kv.pages.record import Owner


def key(number: int) -> bytes:
    return number.to_bytes(16, "big")


def test_the_latest_evictions_are_remembered_within_a_bound() -> None:
    seconds = iter(range(1000))
    evictions = Evictions(most=20, clock=lambda: float(next(seconds)))
    for number in range(100):
        evictions.add(key(number), evictions.now(Owner("ada", "chat")))
        assert len(evictions) <= 20
    assert all(evictions.find(key(number)) == (float(number), ("ada", "chat")) for number in range(90, 100))
    assert evictions.find(key(70)) is None


def test_a_page_that_was_evicted_twice_has_its_later_eviction() -> None:
    seconds = iter([1.0, 2.0])
    evictions = Evictions(clock=lambda: next(seconds))
    for program in ("chat", "agent"):
        evictions.add(key(1), evictions.now(Owner("ada", program)))
    assert evictions.find(key(1)) == (2.0, ("ada", "agent"))
