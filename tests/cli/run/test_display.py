import json

import pytest

from pie_mlx.cli.run.display import JsonDisplay, ReceivedFiles, TextDisplay
from pie_mlx.events import ProcessFailed, ProcessFile, ProcessLaunched, ProcessMessage, ProcessOutput, ProcessReturned


def shown(capsys, *events, quiet=False):
    display = TextDisplay(quiet=quiet)
    for event in events:
        display(event)
    return capsys.readouterr()


def message(text, format="text"):
    return ProcessMessage("p", text, format)


def returned(value, format="text"):
    return ProcessReturned("p", value, format)


@pytest.mark.parametrize(
    ("events", "out"),
    [
        ([message("hel"), message("lo"), returned("hello")], "hello\n"),
        ([message("hello\n"), returned("hello")], "hello\n"),
        ([message("hello"), returned("bye")], "hello\nbye\n"),
        ([returned("alone")], "alone\n"),
        ([returned("with newline\n")], "with newline\n"),
        ([message("a"), returned("", "none")], "a\n"),
        ([returned("", "none")], ""),
        ([returned("")], ""),
        ([message('{"a": 1}', "json"), message("x"), returned('{"b": 2}', "json")], '{"a": 1}\nx\n{"b": 2}\n'),
        ([ProcessOutput("p", "stdout", "printed\n"), returned("r")], "printed\nr\n"),
        ([message("half"), ProcessFailed("p", "ValueError", "bad")], "half\n"),
    ],
)
def test_what_is_sent_comes_first_and_the_value_last_on_a_line_of_its_own(capsys, events, out):
    assert shown(capsys, *events).out == out


def test_standard_error_goes_to_standard_error(capsys):
    captured = shown(capsys, ProcessOutput("p", "stderr", "warning\n"))
    assert (captured.out, captured.err) == ("", "warning\n")


def test_quiet_shows_the_return_value_only(capsys):
    events = [message("hello"), ProcessOutput("p", "stdout", "x\n"), returned("hello")]
    assert shown(capsys, *events, quiet=True).out == "hello\n"


def test_json_is_one_object_per_event(capsys):
    display = JsonDisplay()
    for event in (
        ProcessLaunched("p", "local", "a@0.0.0"),
        ProcessOutput("p", "stderr", "w\n"),
        message("ä"),
        ProcessFile("p", "a.txt", 3),
        returned("1", "json"),
    ):
        display(event)
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [
        {"process": "p", "process_id": "p", "event": "stderr", "value": "w\n"},
        {"process": "p", "process_id": "p", "event": "message", "value": "ä", "format": "text"},
        {"process": "p", "process_id": "p", "event": "file", "value": "a.txt", "size_bytes": 3},
        {"process": "p", "process_id": "p", "event": "return", "value": "1", "format": "json"},
    ]


def test_files_are_saved_under_names_of_their_own(tmp_path):
    save = ReceivedFiles(tmp_path)
    for name in ("a.txt", "../a.txt", "", "/etc/a.txt"):
        save(name.encode(), name)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a-2.txt", "a-3.txt", "a.txt", "file-3"]


def test_files_nobody_wants_are_mentioned(capsys):
    ReceivedFiles(None)(b"abc", "a.txt")
    assert "a.txt (3 bytes), not kept" in capsys.readouterr().err
