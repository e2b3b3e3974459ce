import pytest

from pie_mlx.errors import InvalidArgumentError
from pie_mlx.events import MemoryChanged, ProcessFailed, ProcessLaunched
from pie_mlx.tui.model import INITIAL, Record, fold
from pie_mlx.tui.model.alerts import FIGURES, alert
from tests.tui.harness import monitor, press, toasts


def state_after(*events):
    return fold(INITIAL, [Record(float(n), event) for n, event in enumerate(events)])


@pytest.mark.parametrize(
    ("written", "holds"),
    [("failed > 0", True), ("failed>1", False), ("programs = 1", True), ("price >= 0", True), ("memory >= 2", True)],
)
def test_a_condition_compares_a_figure_of_the_engine(written, holds):
    state = state_after(
        ProcessLaunched("a", "ada", "a@1.0.0"),
        ProcessLaunched("b", "ada", "b@1.0.0"),
        ProcessFailed("b", "ValueError", "no"),
        MemoryChanged("critical", "short", 0),
    )
    assert alert(written).holds(state) is holds


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_has_a_value_before_anything_happened(name):
    assert alert(f"{name} >= 0").holds(INITIAL)


@pytest.mark.parametrize("written", ["", "price", "price > x", "price > 1.2.3", "gold > 1", "1 > price", "price ! 1"])
def test_what_is_no_condition_is_refused_with_the_figures(written):
    with pytest.raises(InvalidArgumentError, match="condition") as refused:
        alert(written)
    assert "price" in refused.value.hint


async def test_an_alert_rings_once_when_it_begins_to_hold(monkeypatch):
    async with monitor(alerts=[alert("programs > 0"), alert("failed > 999")]) as (app, pilot):
        await press(app, pilot, "2")
        assert [toast.partition(":")[0] for toast in toasts(app)] == ["programs > 0"]
