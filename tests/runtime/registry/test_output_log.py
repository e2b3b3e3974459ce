import os

import pytest

from pie_mlx.errors import ProcessError
from pie_mlx.runtime.registry import OutputLogs


def make(path, **limits):
    return OutputLogs(path / "logs", lambda: 7.0, **limits)


def values(lines):
    return [line.value for line in lines]


def test_lines_are_numbered_and_can_be_read_after_a_number(tmp_path):
    logs = make(tmp_path)
    log = logs.begin("p", "ada", "a@1.0.0")
    for value in ("one", "two", "three"):
        log.write("stdout", value)
    assert values(logs.read("p", after=1)) == ["two", "three"]
    assert values(logs.read("p", limit=1)) == ["one"]
    assert [line.sequence for line in logs.read("p")] == [1, 2, 3]


def test_what_a_crash_left_is_read_without_its_torn_line(tmp_path):
    log = make(tmp_path).begin("p", "ada", "a@1.0.0")
    log.write("stdout", "whole")
    with (tmp_path / "logs" / "p.jsonl").open("ab") as file:
        file.write(b'{"sequence":2,"ti')
    assert values(make(tmp_path).read("p")) == ["whole"]
    assert make(tmp_path).head("p").username == "ada"


def test_a_long_log_keeps_its_end(tmp_path):
    logs = make(tmp_path, segment_bytes=1000)
    log = logs.begin("p", "ada", "a@1.0.0")
    for number in range(100):
        log.write("stdout", str(number))
    kept = values(logs.read("p"))
    assert kept == [str(number) for number in range(100 - len(kept), 100)]
    assert 10 < len(kept) < 60


def test_the_oldest_logs_go_when_there_is_too_much(tmp_path):
    logs = make(tmp_path, total_bytes=300, pruned_every=1)
    for name in "abc":
        log = logs.begin(name, "ada", "a@1.0.0")
        log.write("stdout", "x" * 250)
    with pytest.raises(ProcessError, match="Process not found"):
        logs.read("a")
    assert values(logs.read("c")) == ["x" * 250]


def test_files_are_for_their_owner_only(tmp_path):
    make(tmp_path).begin("p", "ada", "a@1.0.0")
    assert (tmp_path / "logs").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "logs" / "p.jsonl").stat().st_mode & 0o777 == 0o600


def test_logs_are_found_by_the_beginning_of_an_id_and_by_their_user(tmp_path):
    logs = make(tmp_path)
    for seconds, (process, user) in enumerate((("aa", "ada"), ("ab", "bob"), ("ac", "ada"), ("b", "ada"))):
        logs.begin(process, user, "a@1.0.0")
        os.utime(tmp_path / "logs" / f"{process}.jsonl", (seconds, seconds))
    (tmp_path / "logs" / "ad.jsonl").write_bytes(b"torn")
    assert [head.process for head in logs.newest("a", None, 10)] == ["ac", "ab", "aa"]
    assert [head.process for head in logs.newest("", "ada", 2)] == ["b", "ac"]


def test_an_answer_is_bounded(tmp_path):
    logs = make(tmp_path)
    log = logs.begin("p", "ada", "a@1.0.0")
    for _ in range(4):
        log.write("stdout", "x" * 300_000)
    assert [line.sequence for line in logs.read("p")] == [1, 2]
    assert [line.sequence for line in logs.read("p", after=2)] == [3, 4]


def test_there_are_not_too_many_logs(tmp_path):
    logs = make(tmp_path, files=3, pruned_every=4)
    for number in range(9):
        logs.begin(str(number), "ada", "a@1.0.0").close()
    assert len(list((tmp_path / "logs").iterdir())) == 4
