"""What is compiled once, and for how long it is kept."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from pie_mlx.engine.text.grammar.cache import CompileCache


def fail() -> str:
    raise ValueError("does not compile")


@pytest.fixture
def cache() -> CompileCache[str]:
    """Room for two values of cost 1: "a", then "b"."""
    cache = CompileCache[str](capacity=2)
    for key in ("a", "b"):
        cache.get(key, 1, key.upper)
    return cache


def test_what_is_there_is_not_made_again(cache: CompileCache[str]):
    assert cache.get("a", 1, fail) == "A"


def test_a_making_that_fails_is_not_kept(cache: CompileCache[str]):
    with pytest.raises(ValueError, match="does not compile"):
        cache.get("c", 1, fail)
    assert cache.peek("c") is None
    assert cache.get("c", 1, lambda: "C") == "C"


def test_the_least_recently_made_goes_first(cache: CompileCache[str]):
    cache.get("c", 1, lambda: "C")
    assert [cache.peek(key) for key in "abc"] == [None, "B", "C"]


@pytest.mark.parametrize(
    "use", [lambda cache: cache.get("a", 1, fail), lambda cache: cache.peek("a")], ids=["get", "peek"]
)
def test_what_is_used_stays(cache: CompileCache[str], use):
    use(cache)
    cache.get("c", 1, lambda: "C")
    assert [cache.peek(key) for key in "abc"] == ["A", None, "C"]


def test_what_is_larger_than_the_cache_is_kept_alone(cache: CompileCache[str]):
    cache.get("c", 9, lambda: "C")
    assert [cache.peek(key) for key in "abc"] == [None, None, "C"]


def test_who_asks_for_what_is_being_made_waits_for_it(cache: CompileCache[str]):
    begun, may_end = threading.Event(), threading.Event()

    def make() -> str:
        begun.set()
        may_end.wait()
        return "C"

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(cache.get, "c", 1, make)
        begun.wait()
        assert cache.peek("c") is None
        second = pool.submit(cache.get, "c", 1, fail)
        may_end.set()
        assert [first.result(), second.result()] == ["C", "C"]
