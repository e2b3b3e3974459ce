"""`pie run --record`, then `pie replay`, each as a user runs them."""

import json
import subprocess
import sys

import pytest

from pie_mlx.cli.main import execute
from pie_mlx.cli.replay.command import DIFFERS

AGENT = """\
import random, secrets, time
from datetime import datetime
from inferlet import Context, Model, Sampler, runtime, session


async def main(input):
    model = Model.load(runtime.models()[0])
    for step in range(40):
        with Context(model) as context:
            drawn = random.random(), secrets.token_hex(4), random.Random().random()
            context.user(f"{input['prompt']} {step} {drawn}")
            await context.generate(Sampler.argmax(), max_tokens=2).collect_text()
    session.send(f"{datetime.now()} {time.time()} {time.perf_counter()} {list({'a', 'b', 'c', 'd', 'e', 'f'})}")
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """An agent and its recording, made in a worker: random draws, clocks and hashes are recorded."""
    folder = tmp_path_factory.mktemp("recorded")
    (folder / "agent.py").write_text(AGENT)
    words = ["run", "--dummy", "--record", folder / "run.pie", folder / "agent.py", "--", "--prompt", "hello"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIE_HOME", str(folder / "home"))
        assert execute([str(word) for word in words]) == 0
    return folder


def test_a_refactored_agent_of_40_steps_agrees_with_its_clocks_and_random_draws(pie, recorded):
    (recorded / "refactored.py").write_text(AGENT.replace("step", "number"))
    ended = pie("replay", recorded / "run.pie", recorded / "refactored.py")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("agent@0.0.0: agrees (")


def test_a_changed_prompt_is_told_with_a_code_of_its_own(pie, recorded):
    changed = recorded / "changed.py"
    changed.write_text(AGENT.replace("{input['prompt']} {step}", "{input['prompt']}, {step}"))
    ended = pie("replay", recorded / "run.pie", changed)
    assert ended.code == DIFFERS
    assert f"  {changed}:11\n" in ended.out
    assert "  - hello 0 (0." in ended.out
    assert "  + hello, 0 (0." in ended.out


def test_a_changed_agent_goes_on_live_with_an_engine_of_its_own(pie, recorded):
    changed = recorded / "live.py"
    changed.write_text(AGENT.replace("    session.send(f", "    session.send('live'); session.send(f"))
    ended = pie("replay", "--live", "--dummy", recorded / "run.pie", changed)
    assert ended.code == 0
    assert ended.out.startswith("live")
    assert ended.err.splitlines()[-1] == "[pie] live from here: 0 contexts rebuilt from 0 known tokens"


def test_a_replay_without_an_engine_takes_no_model(pie, recorded):
    assert pie("replay", "--dummy", recorded / "run.pie").code == 2


def test_without_the_source_the_recorded_one_is_run(pie, recorded):
    (recorded / "agent.py").unlink()
    ended = pie("replay", "--json", recorded / "run.pie")
    assert ended.code == 0
    assert json.loads(ended.out)["state"] == "agrees"


def test_what_is_no_recording_is_refused_in_one_line(pie, tmp_path):
    (tmp_path / "run.pie").write_text("hello")
    ended = pie("replay", tmp_path / "run.pie")
    assert (ended.code, ended.err.splitlines()) == (
        1,
        [f"pie: {tmp_path}/run.pie: not a recording", "     try: name a file that 'pie run --record' wrote"],
    )


def test_a_file_that_is_missing_is_said_so(pie, tmp_path):
    assert pie("replay", tmp_path / "none.pie").err.startswith(f"pie: {tmp_path}/none.pie: no such file")


def test_the_interpreter_of_a_replay_imports_neither_mlx_nor_the_engine():
    code = "import pie_mlx.runtime.replay.interpreter, sys; print([n for n in ('mlx', 'numpy') if n in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60)
    assert found.stdout == "[]\n"


@pytest.mark.parametrize("words", [("--port", "0"), ("--watch",)])
def test_one_run_without_other_clients_is_recorded(pie, tmp_path, words):
    (tmp_path / "a.py").write_text("async def main(input): ...\n")
    ended = pie("run", "--dummy", "--record", tmp_path / "r.pie", *words, tmp_path / "a.py")
    assert ended.code == 2
    assert "records one run" in ended.err
