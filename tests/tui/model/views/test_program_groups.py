"""The programs of the overview."""

from pie_mlx.events import ProcessFailed, ProcessLaunched, ProcessReturned
from pie_mlx.tui.model import INITIAL, Record, fold
from pie_mlx.tui.model.views.program_groups import grouped, is_group
from pie_mlx.tui.model.views.program_row import busiest, program_rows


def rows_of(*events, waits=None):
    return busiest(
        program_rows(fold(INITIAL, [Record(float(n), event) for n, event in enumerate(events)]), waits or {})
    )


def request(process, path):
    return ProcessLaunched(process, "local", "openai@0.1.0", input=f'{{"path": "{path}", "request_id": "{process}"}}')


def test_requests_for_one_endpoint_take_one_row_and_others_their_own():
    rows = grouped(
        rows_of(
            request("a", "/v1/messages"),
            ProcessLaunched("p", "ada", "chat@1.0.0"),
            request("b", "/v1/messages"),
            request("c", "/api/chat"),
        )
    )
    assert [(row.endpoint or row.program, is_group(row.id)) for row in rows] == [
        ("/v1/messages", True),
        ("chat@1.0.0", False),
        ("/api/chat", False),
    ]
    assert rows[0].reason == "2 requests: 2 idle"


def test_a_program_of_another_name_is_no_request_whatever_its_input():
    (row,) = rows_of(ProcessLaunched("p", "ada", "mine@1.0.0", input='{"path": "/v1/messages"}'))
    assert row.endpoint == ""


def test_programs_that_have_ended_fold_into_the_last_row():
    launched = [ProcessLaunched(name, "ada", f"{name}@1.0.0") for name in "abc"]
    rows = grouped(rows_of(*launched, ProcessReturned("a", "7"), ProcessFailed("b", "ValueError", "no good")))
    assert [(row.program, row.status) for row in rows] == [("c@1.0.0", "idle"), ("2 ended", "failed")]
    assert rows[-1].reason == "1 returned, 1 failed; latest b@1.0.0: ValueError: no good"


def test_an_idle_program_tells_what_it_waits_for():
    (row,) = rows_of(ProcessLaunched("p", "ada", "chat@1.0.0"), waits={"p": "waits for its client: a message"})
    assert (row.status, row.reason) == ("idle", "waits for its client: a message")
