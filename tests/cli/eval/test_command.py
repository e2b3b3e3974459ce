"""`pie eval` of a program that needs no model."""

import json
import os
import signal
import subprocess
import sys

import pytest

from pie_mlx.cli.eval.evaluation import BELOW

PROGRAM = "async def main(input):\n    return {answer}\n"
ROWS = [("two", "1 + 1", 2), ("four", "2 + 2", 4), ("ten", "3 * 3", 10)]


@pytest.fixture(autouse=True)
def inline(home):
    (home / "config.toml").write_text('[runtime]\nisolation = "inline"\n')


@pytest.fixture
def evaluate(pie, tmp_path):
    dataset, program = tmp_path / "sums.jsonl", tmp_path / "sums.py"
    dataset.write_text("".join(json.dumps({"id": n, "input": {"sum": s}, "expected": e}) + "\n" for n, s, e in ROWS))

    def evaluate(*words, answer="eval(input['sum'])"):
        program.write_text(PROGRAM.format(answer=answer))
        return pie("eval", "--dummy", dataset, program, *words)

    return evaluate


def test_rows_are_scored_and_the_wrong_ones_shown(evaluate):
    ended = evaluate()
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines() == [
        "  ROW  SCORE  LAST  RESULT",
        "  ten  0.00         9",
        "",
        "score 0.667: 2 of 3 rows are right",
    ]


def test_the_next_run_tells_what_became_better_and_worse(evaluate):
    evaluate()
    ended = evaluate("--min-score", "0.6", answer="10 if '3' in input['sum'] else 1 / 0")
    assert ended.code == BELOW
    assert ended.out.splitlines() == [
        "        ROW   SCORE  LAST  RESULT",
        "worse   two   0.00   1.00  ZeroDivisionError: division by zero",
        "worse   four  0.00   1.00  ZeroDivisionError: division by zero",
        "better  ten   1.00   0.00  10",
        "",
        "score 0.333: 1 of 3 rows are right; last time 0.667: 1 better, 2 worse",
    ]


def test_a_check_that_takes_too_long_fails_its_row_which_is_named_by_its_line(pie, tmp_path, monkeypatch):
    monkeypatch.setattr("pie_mlx.runtime.evaluation.run.CHECK_SECONDS", 0.01)
    (tmp_path / "p.py").write_text(PROGRAM.format(answer="'a' * 60 + 'b'"))
    rows = [{"input": {}, "expected": "a"}, {"input": {}, "check": {"regex": "(a+)+$"}}]
    (tmp_path / "d.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    ended = pie("eval", "--dummy", tmp_path / "d.jsonl", tmp_path / "p.py", "--check", "contains")
    assert "line 2  0.00         its check took longer than 0.01 s" in ended.out


def test_json_has_every_row(evaluate):
    found = json.loads(evaluate("--json", "-j", "1", "--limit", "2").out)
    assert found["score"] == 1.0
    assert found["rows"][0] == {"id": "two", "name": "two", "score": 1.0, "last_score": None, "result": 2, "error": ""}


def test_a_mistake_is_told_before_an_engine_starts(evaluate, monkeypatch):
    monkeypatch.setattr("pie_mlx.runtime.engine.Engine.__aenter__", None)
    ended = evaluate("--check", "wrong")
    assert (ended.code, ended.err.splitlines()[0]) == (1, "pie: check 'wrong': unknown")


def test_an_interrupt_ends_it_and_keeps_nothing(tmp_path, home):
    (tmp_path / "wait.py").write_text(
        "import asyncio, os, signal\nasync def main(input):\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n    await asyncio.sleep(60)\n"
    )
    (tmp_path / "one.jsonl").write_text('{"input": {}, "expected": 1}\n')
    words = ["eval", "--dummy", tmp_path / "one.jsonl", tmp_path / "wait.py"]
    ended = subprocess.run(
        [sys.executable, "-m", "pie_mlx", *words], env=dict(os.environ), capture_output=True, text=True, timeout=60
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (128 + signal.SIGINT, "", "")
    assert not (home / "evals").exists()
