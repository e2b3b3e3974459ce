import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.events import (
    AccountLeft,
    ContextReleased,
    ContextRestored,
    ContextRestoring,
    ContextSuspended,
    EngineStarted,
    McpCalled,
    McpServerStarted,
    McpServerStopped,
    McpTool,
    McpToolsListed,
    PagesSpilled,
    ProcessFailed,
    ProcessFile,
    ProcessLaunched,
    ProcessMessage,
    ProcessOutput,
    ProcessReturned,
    WaitChanged,
)
from pie_mlx.tui.model import INITIAL, Record, advance, fold
from pie_mlx.tui.model.process import OUTPUT_PIECES, PIECE_CHARACTERS
from pie_mlx.tui.model.state import ENDED_PROCESSES, HISTORY_SAMPLES, LOG_LINES, SAMPLE_SECONDS
from pie_mlx.tui.model.views.program_input import InputLine, input_lines
from pie_mlx.tui.model.views.program_row import program_rows
from pie_mlx.tui.source.scripted_engine import ScriptedEngine
from tests.tui.stream import FORKED, LAUNCHED, RUNNING, STARTED, after, computed, counted, settled, tick


def test_an_engine_is_known_by_what_it_said_at_its_start():
    state = after(STARTED)
    assert (state.engine, state.pool.page_size, state.pages.total) == (STARTED, 16, 64)


def test_a_second_engine_in_a_log_begins_without_contexts_and_accounts():
    state = after(*RUNNING, EngineStarted("other", "fcfs", 8, 8))
    assert (dict(state.contexts), dict(state.accounts), state.pages.used, state.pages.total) == ({}, {}, 0, 8)


@pytest.mark.parametrize("hostile", ["\x1b[31mp", "\u202ep", "p\n", "\tp"])
def test_names_cannot_steer_a_terminal_and_still_name_the_same(hostile):
    launched = ProcessLaunched(hostile, f"ada{hostile}", f"chat{hostile}")
    state = after(EngineStarted(hostile, "market", 8, 16), launched, ProcessMessage(hostile, "a\n\tb"))
    (process,) = state.processes.values()
    for name in (process.id, process.username, process.program, state.engine.model, state.log[-1].source):
        assert name.isprintable()
    assert process.output[-1].text == "a\n\tb"


def test_a_pass_adds_tokens_to_its_context_and_its_program():
    state = after(*RUNNING, computed(held=40, tokens=1))
    assert (state.contexts[1].held_tokens, state.processes["p"].tokens, state.processes["p"].passes) == (41, 41, 2)


def test_pages_are_those_that_the_engine_counted():
    state = after(*RUNNING, FORKED, counted((1, 1, 2), (2, 0, 2), own=3, used=5))
    contexts = [
        (context.own_pages, context.shared_pages, context.effective_pages) for context in state.contexts.values()
    ]
    assert contexts == [(1, 2, 2.0), (0, 2, 1.0)]
    assert (state.processes["p"].own_pages, state.pages.used) == (3, 5)


def test_a_program_that_ended_holds_no_pages():
    state = after(*RUNNING, counted((1, 3, 0)), ProcessReturned("p", ""))
    assert (state.processes["p"].own_pages, state.processes["p"].shared_pages) == (0, 0)


def test_who_made_way_for_whom_is_remembered_by_name():
    state = after(*RUNNING, FORKED, ContextSuspended(1, 2, "outbid", "suspended: outbid"))
    (eviction,) = state.evictions
    assert (eviction.program, eviction.for_program) == ("chat@1.0.0", "chat@1.0.0")
    assert eviction.reason == "suspended: outbid"


def test_moves_of_pages_are_details_of_the_log():
    state = after(*RUNNING, ContextSuspended(1, 1, "requested", "suspended: by its program"), ContextRestored(1))
    assert [line.level for line in state.log][-2:] == ["debug", "debug"]


def test_a_context_that_suspended_itself_made_way_for_nobody():
    assert after(*RUNNING, ContextSuspended(1, 1, "requested", "suspended: by its program")).evictions == ()


def test_waiting_has_a_reason_until_it_ends():
    waiting = after(*RUNNING, WaitChanged(1, "no_pages", "waiting: needs 2 pages"))
    assert (waiting.contexts[1].activity, waiting.contexts[1].reason) == ("waiting", "waiting: needs 2 pages")
    over = fold(waiting, [Record(30.0, WaitChanged(1))])
    assert (over.contexts[1].activity, over.contexts[1].reason) == ("running", "")


def test_a_suspended_context_that_waits_to_return_stays_suspended_until_it_is_restored():
    state = after(*RUNNING, ContextSuspended(1, 1, "requested", ""), WaitChanged(1, "no_pages", "waiting: 2 pages"))
    assert (state.contexts[1].activity, state.contexts[1].reason) == ("suspended", "waiting: 2 pages")
    assert fold(state, [Record(40.0, ContextRestored(1))]).contexts[1].activity == "running"


def test_the_timeline_tells_forward_passes_waits_and_suspensions():
    state = after(
        *RUNNING,
        WaitChanged(1, "no_pages", "waiting: 2 pages"),
        WaitChanged(1),
        ContextSuspended(1, 2, "outbid", "suspended"),
        ContextRestored(1),
    )
    spans = [(span.kind, round(span.start, 1), round(span.end, 1)) for span in state.contexts[1].spans]
    assert spans == [("forward", 13.9, 14.0), ("waiting", 16.0, 17.0), ("suspended", 18.0, 19.0)]


def test_a_pass_does_not_cover_the_time_in_which_its_context_was_suspended():
    state = after(*RUNNING, ContextSuspended(1, 2, "outbid", "suspended"), ContextRestored(1), computed(took=5.0))
    spans = [(span.kind, span.start, span.end) for span in state.contexts[1].spans[1:]]
    assert spans == [("suspended", 16.0, 17.0), ("forward", 17.0, 18.0)]


def test_a_released_context_is_remembered_apart():
    state = after(*RUNNING, ContextReleased("p", 1))
    assert (dict(state.contexts), state.released[1].released) == ({}, 16.0)


def test_an_engine_computes_until_no_batch_came_for_a_while():
    state = after(*RUNNING)
    assert (state.computes, advance(state, 16.0).computes, advance(state, 17.0).computes) == (True, True, False)


def test_the_market_moves_balances_and_the_price():
    state = after(*RUNNING, settled(0.7, 63.6))
    assert (state.price, state.accounts[4].balance, state.accounts[4].rent) == (0.7, 63.6, 0.5)


def test_a_leaver_takes_its_account_away_and_leaves_the_treasury():
    state = after(*RUNNING, AccountLeft(4, 60.0, -4.0))
    assert (dict(state.accounts), state.pool.treasury) == ({}, -4.0)


@pytest.mark.parametrize(
    ("event", "outcome", "result"),
    [
        (ProcessReturned("p", "done"), "returned", "done"),
        (ProcessFailed("p", "KeyError", "'x'"), "failed", "KeyError: 'x'"),
        (
            ProcessFailed("p", "ProcessCancelledError", "Signal"),
            "killed",
            "it was ended by 'pie kill' or another client",
        ),
        (ProcessFailed("p", "ProcessCancelledError", "Engine stopped"), "killed", "Engine stopped"),
    ],
)
def test_how_a_program_ended_is_told_in_its_words(event, outcome, result):
    process = after(*RUNNING, event).processes["p"]
    assert (process.outcome, process.result, process.ended_seconds, process.lives) == (outcome, result, 16.0, False)


def test_output_that_streams_in_pieces_is_one_piece():
    words = (ProcessMessage("p", word) for word in ("a ", "b ", "c"))
    output = after(LAUNCHED, *words, ProcessOutput("p", "stderr", "x")).processes["p"].output
    assert [(piece.stream, piece.text) for piece in output] == [("message", "a b c"), ("stderr", "x")]


def test_each_file_is_a_line_of_its_own():
    state = after(LAUNCHED, ProcessFile("p", "a.txt", 1200), ProcessFile("p", "", 3))
    assert [piece.text for piece in state.processes["p"].output] == ["a.txt (1,200 bytes)", "file (3 bytes)"]


def test_output_is_bounded():
    long = (ProcessOutput("p", stream, "x" * 3000) for _ in range(OUTPUT_PIECES) for stream in ("stdout", "stderr"))
    assert len(after(LAUNCHED, *long, step=0.001).processes["p"].output) == OUTPUT_PIECES


LONG = "a" * 200_000 + "z" * 50_000
ENDS_OF_LONG = f"{'a' * (PIECE_CHARACTERS // 2)}… (248,000 characters left out) …{'z' * (PIECE_CHARACTERS // 2)}"


def test_of_a_long_text_the_ends_are_kept():
    state = after(LAUNCHED, ProcessOutput("p", "stdout", LONG), ProcessMessage("p", LONG))
    assert [piece.text for piece in state.processes["p"].output] == [ENDS_OF_LONG] * 2


def test_a_long_text_that_follows_a_short_one_is_not_kept_whole_either():
    state = after(LAUNCHED, ProcessOutput("p", "stdout", "short\n"), ProcessOutput("p", "stdout", LONG))
    assert [piece.text for piece in state.processes["p"].output] == ["short\n" + ENDS_OF_LONG]


def test_of_a_long_result_the_ends_are_kept():
    assert after(LAUNCHED, ProcessReturned("p", LONG)).processes["p"].result == ENDS_OF_LONG


def test_mcp_servers_are_known_by_what_happened_to_them():
    state = after(
        LAUNCHED,
        McpServerStarted("files", "stdio", 1),
        McpCalled("p", "files", "tools/call", 0.5, tool="read"),
        McpCalled("p", "files", "tools/call", 0.2, "no such file", "read"),
        McpServerStopped("files", "it ended with code 1", ("boom",)),
    )
    server = state.mcp["files"]
    assert (server.state, server.calls, server.errors, server.last_error) == ("stopped", 2, 1, "it ended with code 1")
    assert (server.methods, server.stderr) == (("tools/call read",), ("boom",))
    span = state.processes["p"].tools[0]
    assert (span.kind, span.start, span.end) == ("tool", 11.5, 12.0)


def test_tools_of_a_server_are_those_that_were_listed_last():
    first = McpToolsListed("p", "files", (McpTool("read", "Read a file"),))
    rest = McpToolsListed("p", "files", (McpTool("write"),), continued=True)
    state = after(LAUNCHED, first, rest)
    assert [tool.name for tool in state.mcp["files"].tools] == ["read", "write"]
    state = after(LAUNCHED, first, rest, first)
    assert [tool.name for tool in state.mcp["files"].tools] == ["read"]


def test_a_program_knows_its_input_and_its_parent():
    state = after(ProcessLaunched("c", "ada", "x@1.0.0", None, "p", '{"prompt": "hi", "n": [1, 2]}'))
    process = state.processes["c"]
    assert process.parent == "p"
    assert input_lines(process.input) == [InputLine("prompt", "hi"), InputLine("n", "[1, 2]")]


def test_an_input_that_was_cut_stands_as_it_came():
    assert input_lines('{"prompt": "h') == [InputLine("", '{"prompt": "h…')]
    assert input_lines("") == []


def test_decoded_tokens_and_those_of_prompts_have_rates_of_their_own_over_two_seconds():
    passes = [computed(held=40, tokens=1), msgspec.structs.replace(computed(held=40, tokens=3), following=2)]
    events = [event for n in range(100) for event in (*passes, computed(held=0, tokens=6), tick(n, tokens=10))]
    state = fold(after(*RUNNING), [Record(20.0 + n * 0.025, event) for n, event in enumerate(events)])
    assert (state.tokens_per_second, state.prefill_per_second) == pytest.approx((40, 60), rel=0.15)


def test_the_engine_s_rates_are_those_of_its_ticks_for_one_who_sees_no_pass_too():
    one = msgspec.structs.replace(tick(tokens=10), decoded_tokens=4, prompt_tokens=3)
    state = fold(INITIAL, [Record(20.0 + n * 0.025, one) for n in range(100)])
    assert (state.tokens_per_second, state.prefill_per_second) == pytest.approx((160, 120), rel=0.15)


def test_right_guesses_count_as_decoded_tokens_and_wrong_ones_do_not():
    verified = msgspec.structs.replace(computed(held=40, tokens=5), guessed_tokens=4, guessed_right=2)
    assert after(*RUNNING, verified, step=0.0).processes["p"].recent_decoded == 3


def test_tokens_that_a_grammar_forced_are_decoded_and_no_prompt():
    jumped = msgspec.structs.replace(computed(held=40, tokens=5), forced_tokens=4)
    assert (jumped.input_tokens, jumped.drawn_tokens) == (1, 5)
    assert after(*RUNNING, jumped, step=0.0).processes["p"].recent_decoded == 5


def test_a_programs_rate_falls_to_none_when_it_stops():
    busy = fold(after(*RUNNING), [Record(16 + n * 0.1, computed(held=n, tokens=1)) for n in range(60)])
    assert busy.processes["p"].rate == pytest.approx(10, rel=0.2)
    assert advance(busy, busy.seconds + 60).processes["p"].rate == 0


def test_history_is_bounded_and_a_long_pause_is_cut_short():
    state = advance(after(*RUNNING), 10.0 + 100 * HISTORY_SAMPLES * SAMPLE_SECONDS)
    assert len(state.history) == HISTORY_SAMPLES


def test_the_log_is_bounded_and_its_lines_are_numbered():
    state = after(LAUNCHED, *(ProcessOutput("p", "stdout", f"{n}\n") for n in range(LOG_LINES + 50)), step=0.001)
    assert (len(state.log), state.log[-1].number) == (LOG_LINES, LOG_LINES + 51)
    assert state.log[-1].text == f"{LOG_LINES + 49}"


def test_ended_programs_are_forgotten_oldest_first():
    events = [event for n in range(ENDED_PROCESSES + 3) for event in _short_life(str(n))]
    state = after(*events, step=0.001)
    assert len(state.processes) == ENDED_PROCESSES
    assert "2" not in state.processes
    assert "3" in state.processes


def _short_life(name):
    return ProcessLaunched(name, "ada", "hello@1.0.0"), ProcessReturned(name, "")


def test_events_about_contexts_nobody_has_heard_of_are_harmless():
    strange = (computed(9), WaitChanged(9, "x", "y"), ContextSuspended(9, 8, "x", "y"), ContextRestored(9))
    state = after(*strange, PagesSpilled(1, 5))
    assert (dict(state.contexts), state.pool.spilled_pages) == ({}, 5)


def test_a_state_is_a_value_that_later_events_do_not_change():
    before = after(*RUNNING)
    kept = msgspec.json.encode(before)
    fold(before, [Record(50.0, computed(held=40)), Record(51.0, ContextReleased("p", 1))])
    assert msgspec.json.encode(before) == kept


def test_time_without_events_only_makes_programs_older():
    state = after(*RUNNING)
    later = advance(state, state.seconds + 3)
    assert (later.seconds, later.events, later.contexts) == (state.seconds + 3, state.events, state.contexts)
    assert advance(later, 0.0) is later


@given(st.integers(0, 10_000), st.lists(st.integers(1, 40), max_size=12))
def test_folding_in_pieces_is_folding_at_once(seed, sizes):
    engine = ScriptedEngine(programs=5, pages=60, seed=seed)
    records = [Record(0.0, event) for event in engine.start()]
    for n in range(1, 20):
        records += [Record(n / 10, event) for event in engine.tick()]
    whole = fold(INITIAL, records)
    state, rest = INITIAL, records
    for size in sizes:
        state, rest = fold(state, rest[:size]), rest[size:]
    assert fold(state, rest) == whole


@given(st.permutations([*RUNNING, FORKED, ContextReleased("p", 1), ProcessReturned("p", ""), tick(2)]))
def test_events_in_any_order_give_a_state(events):
    state = after(*events)
    assert state.events == len(events)


def test_a_program_has_its_trend_with_one_value_a_second():
    state = advance(after(*RUNNING, counted((1, 3, 0))), 40.0)
    process = state.processes["p"]
    assert process.held[-1] == 3
    assert len(process.held) == len(process.rates) == pytest.approx(state.seconds - state.started_seconds, abs=1)


def test_a_context_whose_pages_are_read_or_computed_again_is_restoring_until_all_is_there():
    suspended = ContextSuspended(1, 1, "requested", "suspended")
    state = after(*RUNNING, suspended, ContextRestoring(1, read_pages=2, replayed_tokens=30))
    (row,) = program_rows(state)
    assert (row.status, row.reason) == ("restoring", "2 pages are read, 30 tokens are computed again")
    restored = fold(state, [Record(40.0, ContextRestored(1, read_pages=2))])
    assert restored.contexts[1].activity == "running"
    assert "restoring" in [span.kind for span in restored.contexts[1].spans]
    again = fold(state, [Record(40.0, WaitChanged(1, "no_pages", "suspended: needs 2 pages"))])
    assert again.contexts[1].activity == "suspended"
