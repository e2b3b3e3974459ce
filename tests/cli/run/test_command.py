"""What `pie run` refuses before anything heavy is loaded."""

import pytest

from pie_mlx.cli.engine.model_settings import chosen_model_settings, model_name
from pie_mlx.cli.run.dispatch import permitted
from pie_mlx.config.schema import ModelConfig, RuntimeConfig

MAIN = "async def main(input): ...\n"
MANIFEST = """
[package]
name = "demo"
version = "0.1.0"
[parameters]
prompt = { type = "string", description = "The user message" }
max_tokens = { type = "int", default = 64 }
"""


@pytest.fixture
def demo(tmp_path):
    (tmp_path / "main.py").write_text(MAIN)
    (tmp_path / "Pie.toml").write_text(MANIFEST)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["run"], "no program is named"),
        (["run", "a.py", "-p", "b.py"], "a program is named twice"),
        (["run", "demo", "-m", "Pie.toml"], "an installed program has its own"),
        (["run", "a.py", "extra"], "unexpected extra argument"),
        (["run", "a.py", "--input", "{}", "--", "--a", "1"], "exclude each other"),
        (["run", "https://x.com/a.py"], "https://x.com/a.py: a URL cannot be run: download it first"),
        (["run", "a.py", "--timeout", "0"], "--timeout"),
        (["run", "a.py", "--timeout", "nan"], "nan is not a finite number."),
        (["run", "a.py", "--timeout", "abc"], "'abc' is not a valid number."),
        (["serve", "--port", "abc"], "'abc' is not a valid whole number."),
        (["run", "a.py", "--token-budget", "0"], "--token-budget"),
        (["run", "a.py", "--input", "@/nothing/there"], "No such file"),
        (["run", "a.py", "--port", "65536"], "--port"),
        (["run", "a.py", "--log", "/nothing/there"], "--log /nothing/there: No such file"),
        (["--url", "ws://127.0.0.1:1", "run", "a.py", "--port", "0"], "--url names a running engine"),
        (["--url", "ws://127.0.0.1:1", "run", "a.py", "--log", "events"], "--url names a running engine"),
    ],
)
def test_wrong_command_lines_end_with_2(pie, words, why):
    ended = pie(*words)
    assert ended.code == 2
    assert why in ended.err


def test_arguments_that_do_not_fit_show_the_parameter_table(pie, demo):
    ended = pie("run", demo, "--", "--max-tokens", "many")
    assert ended.code == 2
    assert ended.err.splitlines() == [
        "pie: parameter 'max_tokens': expected int, got \"many\"",
        "     parameters:",
        "     prompt      string: The user message",
        "     max_tokens  int (default 64)",
        "     try: pie run --help",
    ]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--", "--max-token", "3"], "missing parameter 'prompt' (string: The user message); unknown parameter"),
        (["--", "hello"], "unexpected words ['hello']: parameters are given as --name value"),
        (["--", "--"], "a name is missing"),
        (["--input", "{"], "input: not JSON"),
        (["--input", '{"prompt": NaN}'], "NaN is not allowed"),
        (["--input", '{"prompt": 1e400}'], "1e400 is too large for a float"),
        (["--input", '{"prompt": 1}'], "parameter 'prompt': expected string, got int 1"),
    ],
)
def test_inputs_that_do_not_fit_end_with_2(pie, demo, words, why):
    ended = pie("run", demo, *words)
    assert ended.code == 2
    assert why in ended.err


@pytest.mark.parametrize(
    ("source", "why"), [("print(1)\n", "no 'async def main(input)'"), ("def main(:\n", "a.py:1: invalid syntax")]
)
def test_a_program_that_cannot_start_ends_with_1_and_one_line(pie, tmp_path, source, why):
    (tmp_path / "a.py").write_text(source)
    ended = pie("run", tmp_path / "a.py")
    assert ended.code == 1
    assert why in ended.err
    assert len(ended.err.splitlines()) == 2


def test_a_configuration_that_does_not_hold_ends_with_1(pie, demo, home):
    (home / "config.toml").write_text("[[modle]]\nname = 1\n")
    ended = pie("run", demo, "--", "--prompt", "x")
    assert ended.code == 1
    assert "unknown key" in ended.err


@pytest.mark.parametrize(
    ("words", "hosts"),
    [
        ([], None),
        (["--allow-network"], ()),
        (["--allow-network=a.b:443, 10.0.0.0/8"], ("a.b:443", "10.0.0.0/8")),
    ],
)
def test_a_program_may_be_let_out(monkeypatch, pie, words, hosts):
    requests = []
    monkeypatch.setattr("pie_mlx.cli.run.dispatch.run_request", lambda request, common: requests.append(request) or 0)
    assert pie("run", *words, "a.py").code == 0
    assert requests[0].network_hosts == hosts
    assert requests[0].needs_own_engine == (hosts is not None)


def test_a_program_may_be_given_files(monkeypatch, pie):
    requests = []
    monkeypatch.setattr("pie_mlx.cli.run.dispatch.run_request", lambda request, common: requests.append(request) or 0)
    assert pie("run", "--allow-fs", "a.py").code == 0
    assert requests[0].allow_files
    assert requests[0].needs_own_engine


def test_files_on_the_command_line_leave_the_other_permissions_alone():
    runtime = RuntimeConfig(network_allowed_hosts=["a.b"])
    allowed = permitted(runtime, None, allow_files=True)
    assert allowed.allow_fs
    assert not allowed.allow_network


def test_hosts_on_the_command_line_replace_the_configured():
    runtime = RuntimeConfig(network_allowed_hosts=["a.b"])
    assert permitted(runtime, None) is runtime
    assert permitted(runtime, ()).network_allowed_hosts == ["a.b"]
    assert permitted(runtime, ("c.d",)).network_allowed_hosts == ["c.d"]
    assert permitted(runtime, ()).allow_network


@pytest.mark.parametrize("reference", ["./m4", "m4/", "."])
def test_a_model_in_a_directory_is_called_by_its_name(tmp_path, monkeypatch, reference):
    (tmp_path / "m4").mkdir()
    monkeypatch.chdir(tmp_path / "m4" if reference == "." else tmp_path)
    settings = chosen_model_settings(reference, dummy=False, models=[ModelConfig("org/other", "other")])
    assert (model_name(settings), settings.model) == ("m4", reference)


def test_a_model_of_the_cache_is_called_by_its_repo():
    assert model_name(chosen_model_settings("org/m4", dummy=False, models=[ModelConfig("pie-tiny")])) == "org/m4"
