"""When memory is wired, and that it never stays so."""

import mlx.core as mx
import pytest

from pie_mlx.engine.model.memory import Residency, WiringFacts, refused_because, residency, wiring_facts
from tests.engine.running import running

GIB = 1 << 30
SEQUOIA = WiringFacts(macos=15, recommended_bytes=24 * GIB)


class Limit:
    """MLX's wired limit."""

    def __init__(self) -> None:
        self.bytes = 7
        self.calls = 0

    def set(self, wanted: int) -> int:
        before, self.bytes = self.bytes, wanted
        self.calls += 1
        return before


@pytest.fixture
def limit() -> Limit:
    return Limit()


@pytest.mark.parametrize(
    ("macos", "reason"),
    [(0, "needs macOS 15"), (14, "needs macOS 15"), (15, ""), (26, "kernel panics"), (27, "kernel panics")],
)
def test_memory_is_wired_where_that_is_possible_and_took_no_machine_down(macos: int, reason: str) -> None:
    found = refused_because(WiringFacts(macos, 24 * GIB), 10 * GIB)
    assert reason in found
    assert bool(found) == bool(reason)


def test_what_is_not_below_the_recommended_working_set_is_not_wired() -> None:
    assert refused_because(SEQUOIA, 24 * GIB - 1) == ""
    assert "24,576 MiB are not below the 24,576 MiB" in refused_because(SEQUOIA, 24 * GIB)


def test_a_refusal_touches_nothing_and_says_why(limit: Limit) -> None:
    held = Residency(limit.set)
    assert held.want(25 * GIB, SEQUOIA).startswith("memory is not wired: ")
    held.hold()
    held.release()
    assert limit.calls == 0


def test_the_limit_before_is_put_back_once(limit: Limit) -> None:
    held = Residency(limit.set)
    assert held.want(10 * GIB, SEQUOIA) == "memory is wired: 10,240 MiB"
    held.hold()
    assert (limit.bytes, limit.calls) == (10 * GIB, 1)
    held.release()
    held.release()
    assert (limit.bytes, limit.calls) == (7, 2)


def test_what_was_given_back_can_be_held_again(limit: Limit) -> None:
    held = Residency(limit.set)
    held.want(10 * GIB, SEQUOIA)
    held.release()
    held.hold()
    assert limit.bytes == 10 * GIB
    held.release()
    assert limit.bytes == 7


def test_an_engine_wires_weights_and_pool_and_restores_the_limit_at_its_end(
    limit: Limit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pie_mlx.engine.start.wiring_facts", lambda: SEQUOIA)
    monkeypatch.setattr("pie_mlx.engine.model.runner.device_thread.Residency", lambda: Residency(limit.set))
    with running(wires_memory=True) as engine:
        model = engine.core.services.runner.model
        assert model.head is not None
        pools = model, model.head.model
        assert limit.bytes == sum(one.card.weight_bytes + one.pool.bytes() for one in pools)
    assert limit.bytes == 7


def test_an_engine_wires_nothing_unless_it_is_asked_to(limit: Limit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pie_mlx.engine.start.wiring_facts", lambda: SEQUOIA)
    monkeypatch.setattr("pie_mlx.engine.model.runner.device_thread.Residency", lambda: Residency(limit.set))
    with running():
        assert limit.calls == 0
    assert limit.calls == 0


@pytest.mark.parametrize(("told", "macos"), [("15.7.4", 15), ("26.5", 26), ("", 0)])
def test_the_system_is_asked_for_its_version_and_what_it_recommends(
    told: str, macos: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(residency.platform, "mac_ver", lambda: (told, ("", "", ""), ""))
    monkeypatch.setattr(mx, "device_info", lambda: {"max_recommended_working_set_size": 5 * GIB})
    assert wiring_facts() == WiringFacts(macos, 5 * GIB)
