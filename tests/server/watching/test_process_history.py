import itertools

import msgspec

from pie_mlx.events import PassCompleted, ProcessFailed, ProcessLaunched, ProcessReturned
from pie_mlx.runtime.registry import User
from pie_mlx.server.frames import VALUE_LIMIT_BYTES
from pie_mlx.server.handlers.watching import snapshot_json
from pie_mlx.server.watching.process_history import TEXT_CHARACTERS, ProcessHistory

ADA, ADMIN = User("ada"), User("root", admin=True)


def filled(*events, **options):
    now = itertools.count()
    history = ProcessHistory(lambda: float(next(now)), **options)
    for event in events:
        history.observe(event)
    return history


def launched(process, user="ada"):
    return ProcessLaunched(process, user, "x@1.0.0")


def test_who_runs_and_who_ended_is_known_with_what_was_computed():
    passed = PassCompleted("p", 7, 0, 5, 1, following=2)
    history = filled(launched("p"), passed, launched("q"), PassCompleted("q", 8, 0, 1, 1), ProcessReturned("p", "done"))
    ended, running = history.rows(ADA)
    assert (ended.id, ended.tokens, ended.passes, ended.result, ended.error_type) == ("p", 5, 3, "done", "")
    assert (ended.launched_seconds_ago, ended.ended_seconds_ago) == (3.0, 1.0)
    assert (running.id, running.tokens, running.ended_seconds_ago) == ("q", 1, None)


def test_a_user_sees_own_processes_an_admin_all():
    history = filled(launched("p"), launched("q", "bob"), ProcessFailed("q", "ValueError", "no"))
    assert [row.id for row in history.rows(ADA)] == ["p"]
    assert [row.id for row in history.rows(ADMIN)] == ["q", "p"]


def test_the_latest_that_ended_are_kept_and_long_texts_are_cut():
    events = [event for name in "abcd" for event in (launched(name), ProcessReturned(name, "x" * 10_000))]
    rows = filled(*events, kept=3).rows(ADA)
    assert [row.id for row in rows] == ["b", "c", "d"]
    assert {len(row.result) for row in rows} == {TEXT_CHARACTERS}
    assert [row.id for row in filled(*events).rows(ADA, ended_bytes=1500)] == ["c", "d"]


def test_a_snapshot_fits_a_frame_however_many_processes_ran():
    rows = filled(*[launched(f"{number:08}" * 40) for number in range(4000)]).rows(ADMIN)
    data = snapshot_json(7, {"ran": rows})
    kept = msgspec.json.decode(data)["state"]["ran"]
    assert (0 < len(data) <= VALUE_LIMIT_BYTES, kept[-1]["id"]) == (True, rows[-1].id)
