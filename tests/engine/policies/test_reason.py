import pytest

from pie_mlx.engine.policies import Reason, ReasonKind, policy
from tests.engine.policies.scenes import off_pool, resident, scene


def test_a_suspension_names_bid_price_and_pages():
    actors = [resident(1, 6, bid=0.8), resident(2, 3, bid=1.2), off_pool(3, 14, bid=2.0)]
    plan = policy("market").plan(scene(16, actors))
    assert plan.suspensions[0].reason.text() == "suspended: bid 0.80 < clearing price 1.20; another needs 14 pages"


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        (Reason(ReasonKind.OUTBID, 1.0, 1.0, pages=1, suspended=True), "bid 1.00 = bid 1.00; another needs 1 page"),
        (Reason(ReasonKind.OUTBID, 0.5, price=0.7, pages=3), "bid 0.50 < clearing price 0.70; needs 3 pages"),
        (
            Reason(ReasonKind.OUTBID, 0.0012, price=0.0034, pages=3, suspended=True),
            "bid 0.0012 < clearing price 0.0034; another needs 3 pages",
        ),
        (Reason(ReasonKind.DEFAULTED, suspended=True), "its account could not pay its rent"),
        (Reason(ReasonKind.YIELDS_TO_DUE, waited_ticks=70, suspended=True), "yields to a context that waited 70 ticks"),
        (Reason(ReasonKind.NEWER, pages=3, suspended=True), "came after the requester, which needs 3 pages"),
        (
            Reason(ReasonKind.NO_PAGES, pages=3, available_pages=2),
            "needs 3 pages, 2 available, and no other context has to give any back",
        ),
        (Reason(ReasonKind.PAGES_COMING, pages=3), "needs 3 pages, which others give back after their next pass"),
        (Reason(ReasonKind.BATCH_CONTEXTS), "the batch has no slot left"),
        (Reason(ReasonKind.BATCH_TOKENS), "the batch has no room for its tokens"),
        (
            Reason(ReasonKind.USER_SHARE),
            "other contexts of its user are in the batch, and other users have their share of it",
        ),
    ],
)
def test_every_reason_reads_as_a_sentence(reason: Reason, text: str):
    verb = "suspended" if reason.suspended else "waiting"
    assert reason.text() == f"{verb}: {text}"
