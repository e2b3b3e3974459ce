"""A context that is being restored is so on every display, whenever it connected."""

import msgspec
import pytest

from inferlet import Context
from pie_mlx.engine import inspection
from pie_mlx.engine.scheduler.reports import TickReports
from pie_mlx.tui.model import INITIAL, Record, fold
from pie_mlx.tui.model.folding.snapshot import snapshot_state
from pie_mlx.tui.source.live import decoded
from tests.engine.running import running


async def test_ps_and_monitors_that_came_early_and_late_show_a_context_that_is_restored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with running(total_pages=16) as engine:
        services = engine.core.services
        reports = engine.part(TickReports)
        tell, seen = reports.restoring, []

        def restoring(report):
            tell(report)
            contexts = msgspec.to_builtins(inspection.context_statuses(services))
            live = [Record(1.0, decoded(msgspec.json.encode(event).decode())) for event in engine.events]
            seen.append(
                (
                    inspection.process_statuses(services)[engine.host.process_id],
                    fold(INITIAL, live).contexts[report.context],
                    snapshot_state({"contexts": contexts}, 1.0).contexts[report.context],
                    inspection.market_status(services),
                )
            )

        monkeypatch.setattr(reports, "restoring", restoring)
        poor, rich = Context(engine.model), Context(engine.model)
        for context, bid in ((poor, 1.0), (rich, 5.0)):
            context.set_bid(bid)
            context.append(engine.prompt(160, int(bid)))
            await context.flush()
        (outbid,) = inspection.process_statuses(services).values()
        assert services.queue.reason(poor.id) is not None
        rich.release()
        poor.append([50])
        await poor.flush()
    ((ps, early, late, market),) = seen
    assert (ps.state, early.activity, late.activity) == ("restoring",) * 3
    assert ps.reason == early.reason == late.reason
    assert "tokens are computed again" in ps.reason
    assert (market.contexts_restoring, market.contexts_waiting, market.contexts_suspended) == (1, 0, 0)
    assert (outbid.state, outbid.reason) == ("running", "")  # the reason is of those contexts that give the state
