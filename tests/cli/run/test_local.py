"""`pie run` on an engine without weights."""

import json
import os
import pwd
import re
from pathlib import Path

import pytest

from pie_mlx.event_log import read_events
from pie_mlx.events import ProcessOutput, TickCompleted
from tests.cli.pipes import after_its_first_line

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture
def program(tmp_path):
    """Writes a program whose main has the given body."""

    def program(body):
        file = tmp_path / "a.py"
        file.write_text(f"import asyncio, sys\nfrom inferlet import session\nasync def main(input):\n    {body}\n")
        return file

    return program


@pytest.mark.parametrize("example", sorted(path.name for path in EXAMPLES.iterdir() if (path / "main.py").exists()))
def test_every_example_passes_its_own_check(pie, example):
    assert pie("check", EXAMPLES / example).code == 0


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("examples/helo", "examples/hello"),
        ("exmples/hello", "examples/hello"),
        ("examples/hello.py", "examples/hello"),
        ("examples/hello/mian.py", "examples/hello/main.py"),
    ],
)
def test_a_path_that_is_not_there_is_answered_with_the_nearest(pie, monkeypatch, given, meant):
    monkeypatch.chdir(EXAMPLES.parent)
    ended = pie("run", "--dummy", given)
    assert (ended.code, ended.err) == (1, f"pie: {given}: no such file\n     try: did you mean '{meant}'?\n")


def test_a_path_that_is_like_none_is_said_so(pie, tmp_path):
    assert pie("run", "--dummy", tmp_path / "xyz.py").err.endswith("no such file\n     try: check the path\n")


def test_a_directory_of_programs_says_what_in_it_can_be_run(pie, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("mine/one/main.py", "mine/two.py", "mine/helper.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x = 1\n" if "helper" in name else "async def main(input): ...\n")
    ended = pie("run", "--dummy", "mine")
    hint = "it contains programs: mine/one, mine/two.py"
    assert (ended.code, ended.err) == (
        1,
        f"pie: mine: no main.py, nor main.ts, main.js, index.js or main.wasm\n     try: {hint}\n",
    )


def test_a_long_list_of_programs_is_cut(pie, monkeypatch):
    monkeypatch.chdir(EXAMPLES.parent)
    shown = pie("run", "--dummy", "examples").err.splitlines()[-1]
    assert (shown.count("examples/"), bool(re.search(r" and \d+ more$", shown))) == (6, True)


@pytest.mark.parametrize("name", ["README.md", "./README.md", "LICENSE", "docs/images"])
def test_what_is_no_program_is_said_so(pie, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / name).write_bytes(b"\xff" if "images" in name else b"# Words\n\nand more words.\n")
    ended = pie("run", "--dummy", name)
    assert (ended.code, ended.err.splitlines()) == (
        1,
        [
            f"pie: {name.removeprefix('./')}: not a program",
            "     try: a program is a .py, .ts or .js file, a directory with a main file, or a .pie package",
        ],
    )


def test_a_word_in_a_file_of_another_kind_is_no_program_though_it_is_python(pie, tmp_path):
    (tmp_path / "hostname").write_text("vm\n")
    for verb in ("run", "install", "check"):
        assert "hostname: not a program" in "".join((ended := pie(verb, tmp_path / "hostname")).out + ended.err)


def test_an_installed_name_goes_before_a_directory_of_the_same_name(pie, program, tmp_path, monkeypatch):
    assert pie("install", program("return 'installed'")).code == 0
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").mkdir()
    assert pie("run", "-q", "--dummy", "a").out == "installed\n"


def test_what_is_sent_is_printed_then_what_is_returned(pie, program):
    file = program("print('printed'); session.send('sent '); session.send([1]); return input")
    ended = pie("run", "--dummy", file, "--", "--n", "3")
    assert (ended.code, ended.out, ended.err) == (0, 'printed\nsent [1]\n{"n": 3}\n', "")


def test_a_reader_who_goes_away_ends_the_program_without_a_word(program):
    body = "\n    ".join(("while True:", "    session.send('line\\n')", "    await asyncio.sleep(0)"))
    assert after_its_first_line("run", "--dummy", program(body)) == ""


def test_standard_error_of_a_program_is_mirrored(pie, program):
    ended = pie("run", "--dummy", program("print('careful', file=sys.stderr)"))
    assert (ended.out, ended.err) == ("", "careful\n")


def test_quiet_prints_the_return_value_only(pie, program):
    assert pie("run", "-q", "--dummy", program("print('noise'); return 'value'")).out == "value\n"


def test_a_program_without_a_server_runs_as_who_is_logged_in(pie, program):
    file = program("from inferlet import runtime; return runtime.username()")
    assert pie("run", "-q", "--dummy", file).out == pwd.getpwuid(os.geteuid()).pw_name + "\n"


@pytest.mark.parametrize("words", [["--input", '{"n": 1}'], ["--input", "@input.json"]])
def test_the_input_can_be_json(pie, program, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "input.json").write_text('{"n": 1}')
    assert pie("run", "-q", "--dummy", program("return input['n']"), *words).out == "1\n"


def test_json_is_one_object_per_event_and_ends_with_the_return(pie):
    ended = pie("run", "--dummy", "--json", EXAMPLES / "hello", "--", "--max-tokens", "3")
    events = [json.loads(line) for line in ended.out.splitlines()]
    assert events[-1]["event"] == "return"
    assert {event["event"] for event in events[:-1]} == {"message"}


def test_json_of_a_failure_ends_with_the_error(pie, program):
    ended = pie("run", "--dummy", "--json", program("raise ValueError('no luck')"))
    last = json.loads(ended.out.splitlines()[-1])
    assert (ended.code, ended.err) == (1, "")
    assert (last["event"], last["value"], last["error_type"]) == ("error", "no luck", "ValueError")


def test_a_program_that_fails_ends_with_1_its_traceback_and_one_clear_line(pie, program):
    ended = pie("run", "--dummy", program("raise ValueError('no luck')"))
    assert (ended.code, ended.out) == (1, "")
    assert "raise ValueError('no luck')" in ended.err
    assert ended.err.splitlines()[-1] == "pie: program 'a@0.0.0': ValueError: no luck"


def test_a_module_that_is_not_there_shows_the_import_and_nothing_of_how_imports_work(pie, tmp_path):
    (tmp_path / "a.py").write_text("import not_there\n\nasync def main(input):\n    pass\n")
    lines = pie("run", "--dummy", tmp_path / "a.py").err.splitlines()
    assert [line.strip() for line in lines if line.startswith("  ")] == [
        f'File "{tmp_path}/a.py", line 1, in <module>',
        "import not_there",
        "try: 'pie check' of its path lists the imports that fail, and why",
    ]


def test_a_value_that_cannot_be_returned_is_one_clear_line(pie, program):
    ended = pie("run", "--dummy", program("return object()"))
    assert ended.err.splitlines() == [
        "pie: program 'a@0.0.0': InvalidTypeError: return value of type object: objects of type object are not JSON",
        "     try: return a str or what JSON can hold",
    ]


def test_an_error_of_ours_inside_a_program_says_what_to_do(pie, program):
    ended = pie("run", "--dummy", program("await session.receive()"))
    assert ended.code == 1
    assert ended.err.splitlines()[-1] == (
        "     try: use send() of launch(), or type at a 'pie run': nothing that is piped into it is sent"
    )


def test_a_program_that_takes_too_long_is_ended(pie, program):
    ended = pie("run", "--dummy", "--timeout", "0.05", program("await asyncio.Event().wait()"))
    assert ended.code == 1
    assert "still running after 0.05 s" in ended.err


def test_a_token_budget_ends_a_program(pie):
    ended = pie("run", "--dummy", "--token-budget", "4", EXAMPLES / "hello")
    assert ended.code == 1
    assert "TokenBudgetError" in ended.err.splitlines()[-2]


def test_files_are_saved(pie, program, tmp_path):
    ended = pie("run", "--dummy", "--files", tmp_path / "out", program("session.send_file(b'abc', 'a.bin')"))
    assert ended.code == 0
    assert (tmp_path / "out" / "a.bin").read_bytes() == b"abc"


def test_a_program_keeps_files_where_that_is_allowed(pie, program):
    path = program("open('/scratch/log', 'a').write('x'); session.send(open('/scratch/log').read())")
    assert pie("run", "--dummy", path).code == 1
    assert [pie("run", "--dummy", "--allow-fs", path).out.strip() for _ in range(2)] == ["x", "xx"]


def test_debug_prints_the_events_of_the_engine(pie):
    ended = pie("run", "--dummy", "--debug", EXAMPLES / "hello", "--", "--max-tokens", "2")
    assert "TickCompleted" in ended.err


def test_the_events_of_the_engine_are_recorded(pie, tmp_path):
    log = tmp_path / "events"
    assert pie("run", "--dummy", "--log", log, EXAMPLES / "hello", "--", "--max-tokens", "2").code == 0
    found = read_events(log)
    assert found.torn_bytes == 0
    assert any(isinstance(event, TickCompleted) for event in found.events)


def test_a_run_that_listens_prints_what_any_other_does_and_where(pie, program, tmp_path):
    log = tmp_path / "events"
    file = program("print('printed'); session.send('sent '); return input")
    ended = pie("run", "--dummy", "--port", "0", "--log", log, file, "--", "--n", "3")
    assert (ended.code, ended.out) == (0, 'printed\nsent \n{"n": 3}\n')
    assert re.fullmatch(r"pie: listening at ws://127\.0\.0\.1:\d+\n", ended.err)
    assert any(isinstance(event, ProcessOutput) and event.text == "printed\n" for event in read_events(log).events)


def test_a_run_that_listens_is_not_the_engine_of_its_home(pie, program, home):
    file = program("return 'done'")
    assert pie("run", "-q", "--dummy", "--port", "0", file).out == "done\n"
    assert not (home / "run" / "engine.json").exists()


def test_a_program_that_fails_on_a_listening_engine_ends_with_1(pie, program):
    ended = pie("run", "-q", "--dummy", "--port", "0", program("raise ValueError('wrong')"))
    assert ended.code == 1
    assert ended.err.endswith("ValueError: wrong\n")


@pytest.mark.parametrize("model", ["nobody/nothing", "nothing"])
def test_an_unknown_model_is_one_clear_line(pie, model):
    ended = pie("run", "--model", model, EXAMPLES / "hello")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith("pie: model: ")
    assert len(ended.err.splitlines()) == 2


def test_the_configured_model_is_used(pie, home, program):
    (home / "config.toml").write_text(
        '[[model]]\nname = "mine"\nhf_repo = "nobody/nothing"\n[model.engine]\ntype = "dummy"\n'
    )
    file = program("from inferlet import runtime; return runtime.models()")
    assert pie("run", "-q", file).out == '["mine"]\n'
