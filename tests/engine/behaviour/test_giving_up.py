"""Who gives up a call at an awkward moment."""

import pytest

from inferlet import Context
from pie_mlx.calls import Forward
from pie_mlx.engine.scheduler.tick_state import PageRequest
from pie_mlx.errors import PieError
from tests.engine.running import Running, running


def give_up_when_granted(engine: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """Passes are taken back in the turn of the loop in which their pages are granted."""
    grant = PageRequest.grant

    def granted(request: PageRequest) -> None:
        grant(request)
        calls = engine.core.services.processes[engine.host.process_id].calls
        for task in [task for task, call in calls.items() if isinstance(call, Forward)]:
            task.cancel()

    monkeypatch.setattr(PageRequest, "grant", granted)


async def test_a_pass_given_up_as_its_pages_are_granted_does_not_run(monkeypatch: pytest.MonkeyPatch) -> None:  # E5
    with running(total_pages=8) as engine, Context(engine.model) as holder, Context(engine.model) as other:
        await holder.append(engine.prompt(100)).flush()
        other.append(engine.prompt(40, 3)).set_bid(200)
        with monkeypatch.context() as patch:
            give_up_when_granted(engine, patch)
            with pytest.raises(PieError):
                await other.flush()
        assert (other.seq_len, engine.store.contexts[other.id].pages) == (0, 0)
        await other.flush()
        assert other.seq_len == 40
