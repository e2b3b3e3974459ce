from pie_mlx.events import (
    AccountJoined,
    AccountMovement,
    ContextSuspended,
    MarketSettled,
    ProcessLaunched,
    ProcessReturned,
    WaitChanged,
)
from pie_mlx.tui.model import advance
from pie_mlx.tui.model.facts import Connection, Facts
from pie_mlx.tui.model.views.connections import connection_rows
from pie_mlx.tui.model.views.context_tree import context_tree
from pie_mlx.tui.model.views.order_book import order_book
from pie_mlx.tui.model.views.program_row import busiest, families, program_rows
from pie_mlx.tui.model.views.summary import summary
from tests.tui.stream import CREATED, FORKED, LAUNCHED, RUNNING, STARTED, after, computed, counted, settled

PARENTS = (("a", ""), ("b", "gone"), ("c", "a"), ("d", "c"), ("e", "a"))


def row(*events):
    (found,) = program_rows(after(*events, step=0.1))
    return found


def test_a_program_that_computes_says_with_how_many_contexts():
    found = row(*RUNNING)
    assert (found.status, found.reason) == ("running", "1 of 1 context in the batch")


def test_a_program_that_asks_nothing_for_a_second_runs_its_own_code():
    (found,) = program_rows(advance(after(*RUNNING), 30.0))
    assert (found.status, found.reason) == ("idle", "its own code")


def test_a_program_without_contexts_says_so():
    assert (row(LAUNCHED).status, row(LAUNCHED).reason) == ("idle", "holds no context")


def test_a_waiting_program_gives_the_reason_without_its_first_word():
    found = row(*RUNNING, WaitChanged(1, "no_pages", "waiting: needs 2 pages"))
    assert (found.status, found.reason) == ("waiting", "needs 2 pages")


def test_a_suspended_program_gives_the_reason():
    found = row(*RUNNING, ContextSuspended(1, 9, "outbid", "suspended: bid 0.50 < clearing price 0.70, needs 3 pages"))
    assert (found.status, found.reason) == ("suspended", "bid 0.50 < clearing price 0.70, needs 3 pages")


def test_a_program_runs_though_one_of_its_contexts_is_suspended():
    found = row(*RUNNING, ContextSuspended(1, 2, "outbid", "suspended: x"), FORKED, computed(2, held=40, tokens=1))
    assert (found.status, found.reason) == ("running", "1 of 2 contexts in the batch, 1 suspended")


def test_a_row_adds_up_the_pages_of_all_contexts():
    found = row(*RUNNING, FORKED, counted((1, 1, 2), (2, 1, 2), own=4, shared=2))
    assert (found.contexts, found.own, found.shared, found.balance, found.bid) == (2, 4, 2, 64.0, 0.5)


def test_living_programs_come_first_the_biggest_on_top_then_the_latest_that_ended():
    events = [*RUNNING, *(ProcessLaunched(name, "ada", "x@1.0.0") for name in "qrs")]
    events += [ProcessReturned("q", ""), ProcessReturned("r", "")]
    assert [found.id for found in busiest(program_rows(after(*events)))] == ["p", "s", "r", "q"]


def test_the_order_book_divides_shared_pages_and_ends_with_the_pool():
    pages = counted((1, 2, 2), (2, 61, 2))
    state = after(*RUNNING, FORKED, computed(2, held=40, tokens=1000, bid=0.9), pages)
    book = [(demand.context, demand.bid, demand.pages, demand.filled, demand.until) for demand in order_book(state)]
    assert book == [(2, 0.9, 62, 62, 62), (1, 0.5, 3, 2, 65)]


def test_a_suspended_context_wants_the_pages_of_all_its_tokens():
    state = after(*RUNNING, counted((1, 0, 0)), ContextSuspended(1, 2, "outbid", "suspended: x"))
    assert [demand.pages for demand in order_book(state)] == [3.0]


def test_forks_stand_below_what_they_were_forked_from():
    state = after(*RUNNING, FORKED)
    assert [(line.context.id, line.branches) for line in context_tree(state)] == [(1, ""), (2, "└─ ")]


def test_a_fork_whose_source_is_gone_is_a_root():
    state = after(STARTED, LAUNCHED, FORKED)
    assert [line.branches for line in context_tree(state)] == [""]


def test_users_without_a_connection_are_people_too():
    rows = program_rows(after(*RUNNING, ProcessLaunched("q", "linus", "x@1.0.0")))
    facts = Facts(connections=(Connection("1", "ada", "127.0.0.1:1", attached=("p",)),))
    assert [
        (person.username, person.address, person.attached, person.programs) for person in connection_rows(facts, rows)
    ] == [
        ("ada", "127.0.0.1:1", 1, 1),
        ("linus", "", 0, 1),
    ]


def test_a_program_counts_for_the_one_connection_that_it_is_attached_to():
    rows = program_rows(after(*RUNNING, ProcessLaunched("q", "ada", "x@1.0.0"), ProcessLaunched("r", "ada", "x@1.0.0")))
    facts = Facts(connections=(Connection("1", "ada"), Connection("2", "ada", attached=("p", "q"))))
    assert [(person.key, person.programs) for person in connection_rows(facts, rows)] == [("1", 1), ("2", 2)]


def test_the_summary_holds_the_figures_and_a_row_for_each_program():
    told = summary(after(*RUNNING, counted((1, 3, 0)), settled(0.7, 60.0)))
    assert (told.model, told.price, told.pages.used, told.pages_free) == ("pie-tiny", 0.7, 3, 60)
    assert [program.id for program in told.programs] == ["p"]


def test_an_account_is_found_though_it_joined_before_its_program_had_a_context():
    assert row(STARTED, LAUNCHED, AccountJoined(4, 32.0), CREATED).balance == 32.0


def test_programs_stand_below_those_that_started_them():
    launched = [ProcessLaunched(name, "ada", "chat@1.0.0", parent=parent) for name, parent in PARENTS]
    rows = families(program_rows(after(*launched)))
    assert [(row.id, row.branches) for row in rows] == [
        ("a", ""),
        ("c", "├─ "),
        ("d", "│  └─ "),
        ("e", "└─ "),
        ("b", ""),
    ]


def test_what_a_launch_spends_is_rent_and_tokens_not_what_it_gets_back():
    moved = MarketSettled(1, 0.2, (AccountMovement(4, 0.5, 0.25, 3.0, 60.0),))
    (row,) = program_rows(after(*RUNNING, moved, moved))
    assert (row.spent, row.balance) == (1.5, 60.0)
    (told,) = program_rows(
        after(*RUNNING, MarketSettled(1, 0.2, (AccountMovement(4, 0.5, 0.25, 3.0, 60.0, spent=9.0),)))
    )
    assert told.spent == 9.0


def test_what_a_program_waited_for_when_it_was_asked_is_not_told_of_one_that_waits_no_more():
    state = advance(after(*RUNNING), 30.0)
    (row,) = program_rows(state, {"p": "waiting: needs 8 pages, 4 available"})
    assert (row.status, row.reason) == ("idle", "its own code")
    (row,) = program_rows(state, {"p": "waits for its client: a message"})
    assert row.reason == "waits for its client: a message"
