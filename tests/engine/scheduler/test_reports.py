"""What the engine tells of its plans."""

from pie_mlx.engine.policies import Plan, Reason, ReasonKind, Suspension, Wait
from pie_mlx.engine.scheduler.reports import TickReports
from pie_mlx.events import ContextSuspended, Event, WaitChanged

REASON = Reason(ReasonKind.OUTBID, bid=1.0, against_bid=2.0, suspended=True)


def test_a_suspended_context_that_asks_for_its_pages_is_an_event_once() -> None:
    events: list[Event] = []
    reports = TickReports(events.append, clock=lambda: 7.0)
    for _ in range(2):
        reports.suspended(Suspension(1, 2, REASON))
        for _ in range(2):
            reports.planned(Plan(waits=(Wait(1, REASON),)))
    suspended = ContextSuspended(1, 2, "outbid", REASON.text(), 7.0)
    assert events == [suspended, WaitChanged(1, "outbid", REASON.text(), 7.0)] * 2
