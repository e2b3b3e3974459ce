import json
from dataclasses import replace

import numpy as np
import pytest

from pie_mlx.bench import measure as measuring
from pie_mlx.bench.comparison import Row, alternating, median_round
from pie_mlx.bench.conditions import Conditions, require_alike
from pie_mlx.bench.contest import Sizes
from pie_mlx.bench.machine import machine, versions
from pie_mlx.bench.measure import CASES, Plan, measure
from pie_mlx.bench.phases import PHASES, Profile
from pie_mlx.bench.report import Report, line, markdown, profile_lines
from pie_mlx.cli.bench import command as verb
from pie_mlx.cli.bench.measure import BenchRequest
from pie_mlx.cli.main import execute
from pie_mlx.errors import InvalidArgumentError

SPEED = Row("1 stream, decode", 100.0, 150.0, "tok/s")
TIME = Row("first token", 2.0, 0.5, "s", True)
LOGITS = np.array([0.0, 1.0, -4.0], np.float32)
OURS = Conditions("pie-mlx", "float32", "OpenBLAS", LOGITS)
BENCHING = BenchRequest(None, None, (), None, None, None, False, False, False)
TINY = Sizes(new_tokens=4, repeats=1, shared_prompt=64)


def test_a_ratio_is_above_one_where_ours_is_better():
    assert (SPEED.ratio, TIME.ratio) == (1.5, 4.0)


def test_sides_that_do_the_same_work_are_compared():
    require_alike(OURS, Conditions("mlx-lm", "float32", "OpenBLAS", LOGITS + 1e-5))


@pytest.mark.parametrize(
    ("peer", "why"),
    [
        (Conditions("mlx-lm", "bfloat16", "OpenBLAS", LOGITS), "mlx-lm in bfloat16"),
        (Conditions("mlx-lm", "float32", "reference BLAS", LOGITS), "mlx-lm with reference BLAS"),
        (Conditions("mlx-lm", "float32", "OpenBLAS", LOGITS[::-1]), "not the same model"),
        (Conditions("mlx-lm", "float32", "OpenBLAS", LOGITS[:2]), "not the same model"),
    ],
)
def test_unlike_things_are_not_compared(peer, why):
    with pytest.raises(InvalidArgumentError, match=why):
        require_alike(OURS, peer)


async def test_rounds_take_turns_and_that_of_the_median_ratio_counts():
    turns = []

    def peer():
        turns.append("peer")
        return float(len(turns))

    async def ours():
        turns.append("ours")
        return float(len(turns))

    assert await alternating(peer, ours, 3) == (3.0, 4.0)
    assert turns == ["peer", "ours"] * 3


def test_what_a_host_slows_down_for_one_round_decides_nothing():
    assert median_round([(4.0, 2.0), (1.0, 1.0), (1.0, 3.0)]) == (1.0, 1.0)


def report():
    return Report("2026-11-21", "a machine", {"mlx": "0.32.4"}, "a model", "float32", "OpenBLAS", "pie bench", [SPEED])


def test_json_has_every_row_with_its_ratio():
    told = json.loads(json.dumps(report().as_json()))
    assert told["rows"][0]["ratio"] == 1.5
    assert {"date", "machine", "versions", "model", "dtype", "blas", "command"} <= set(told)


def test_a_line_names_the_other_side():
    assert line(SPEED).split()[-2:] == ["1.50x", "mlx-lm"]


def test_markdown_says_where_the_figures_come_from():
    text = "\n".join(markdown(report()))
    assert "`pie bench` on 2026-11-21" in text
    assert "| 1 stream, decode | 100.000 | 150.000 | tok/s | 1.50x | mlx-lm |" in text


def test_shares_of_a_profile_add_up():
    lines = list(profile_lines([Profile(8, 3, dict.fromkeys(PHASES, 2.0))]))
    assert "14.000" in lines[1]
    assert lines[1].count("14.3%") == len(PHASES)


def test_the_machine_and_the_versions_are_named():
    assert "cores" in machine()
    assert {"pie-mlx", "mlx", "mlx-lm", "llguidance", "python"} == set(versions())


def test_the_verb_knows_the_cases():
    assert verb.CASES == CASES


def test_cases_keep_their_order():
    assert list(replace(BENCHING, cases=("grammar", "decode")).plan().cases) == ["decode", "grammar"]


def test_the_command_says_what_was_asked():
    request = replace(BENCHING, model="a b", quick=True, cases=("decode",))
    assert request.command() == "pie bench --model 'a b' --case decode --quick"


def test_json_and_markdown_exclude_each_other(capsys):
    assert execute(["bench", "--json", "--markdown"]) == 2
    assert "exclude each other" in capsys.readouterr().err


async def test_every_case_is_measured_on_one_engine(monkeypatch):
    monkeypatch.setattr(measuring, "PROFILED_STREAMS", (2,))
    rows = []
    plan = Plan(model="pie-tiny", dtype="float32", sizes=TINY, profile=True, pages=512)
    found = await measure(plan, "pie bench", lambda begun: None, rows.append)
    assert rows == found.rows
    assert all(row.peer > 0 and row.ours > 0 for row in rows)
    assert {row.against for row in rows} == {"mlx-lm", "llguidance"}
    (profile,) = found.profiles
    assert profile.steps >= TINY.new_tokens - 1
    assert all(milliseconds > 0 for milliseconds in profile.milliseconds.values())
