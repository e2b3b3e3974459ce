import json
import os
import re
import subprocess
import sys

import pytest

import pie_mlx
from pie_mlx.cli.serve import command
from pie_mlx.config.schema import KEYS


@pytest.mark.parametrize("words", [[], ["--help"], ["-h"]])
def test_help_shows_the_verbs_in_their_groups(pie, words):
    ended = pie(*words)
    assert ended.code == 0
    for title in ("Run:", "Programs:", "Models:", "Setup:"):
        assert title in ended.out
    assert ended.err == ""


def test_an_unknown_verb_suggests_the_nearest(pie):
    ended = pie("chek")
    assert ended.code == 2
    assert ended.err == "pie: 'chek' is not a command, did you mean 'check'?\n     try: pie --help\n"


@pytest.mark.parametrize(
    ("word", "verb"),
    [
        ("pull", "pie model download"),
        ("ls", "pie model list"),
        ("models", "pie model list"),
        ("status", "pie ps"),
        ("inspect", "pie show"),
        ("exec", "pie run"),
        ("up", "pie serve -d"),
        ("./hello", "pie run ./hello"),
    ],
)
def test_what_others_call_a_verb_and_a_path_without_one_lead_to_it(pie, word, verb):
    ended = pie(word)
    assert ended.code == 2
    assert ended.err.startswith(f"pie: '{word}' is not a command: use '{verb}'")


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (["org/model"], "a model is named by --model"),
        (["--api-key", "x"], "'pie auth add' says who may connect"),
        (["--gpu-memory-utilization=0.9"], "it is model.0.engine.kv_memory_fraction of 'pie config'"),
    ],
)
def test_what_other_servers_take_leads_to_what_is_here(pie, words, advice):
    ended = pie("serve", *words)
    assert ended.code == 2
    assert ended.err.splitlines()[0].endswith(f": {advice}")


def test_the_keys_that_stand_for_options_of_others_are_there():
    named = re.findall(r"model\.0\.[a-z_.]+", " ".join(command.ELSEWHERE.values()))
    assert named
    assert set(named) <= set(KEYS)


@pytest.mark.parametrize("words", [[], ["run"], ["model", "list"]])
def test_the_word_help_shows_what_the_option_does(pie, words):
    assert pie("help", *words) == pie(*words, "--help")


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("server.port", "server.port\n  0 picks a free port (whole number, at least 0, at most 65535, default 8080)\n"),
        ("hf_repo", "model.0.hf_repo\n"),
        ("environment", "PIE_HOME"),
        ("json", "ISO times with their zone"),
    ],
)
def test_help_explains_settings_and_topics(pie, word, said):
    ended = pie("help", word)
    assert (ended.code, said in ended.out) == (0, True)


@pytest.mark.parametrize(
    ("word", "said"),
    [("modle", "did you mean 'model'?"), ("prot", "did you mean 'server.port'?"), ("pull", "use 'pie model download'")],
)
def test_help_of_a_word_that_is_none_suggests_one(pie, word, said):
    ended = pie("help", word)
    assert (ended.code, said in ended.err) == (2, True)


@pytest.mark.parametrize("word", ["pie-tiny", "org/configured"])
def test_a_model_is_no_program(pie, home, word):
    (home / "config.toml").write_text('[[model]]\nhf_repo = "org/configured"\n')
    ended = pie("run", word)
    assert (ended.code, ended.err.splitlines()[0]) == (1, f"pie: '{word}' is a model, not a program")
    assert f"'pie chat --model {word}' talks to it" in ended.err


@pytest.mark.parametrize("words", [["--prompt", "Who?"], ["Who?"], ["--prompt=Who?"]])
def test_what_a_program_takes_is_said_to_stand_after_the_dashes(pie, words):
    ended = pie("run", "examples/hello", *words)
    assert ended.code == 2
    assert ended.err.splitlines()[1] == "     arguments of the program go after --"


@pytest.mark.parametrize("words", [["--timeout", "soon"], ["--timeout"], ["--fast", "--", "--prompt", "Who?"]])
def test_other_wrong_options_of_a_run_are_left_at_that(pie, words):
    ended = pie("run", "examples/hello", *words)
    assert (ended.code, "stands after --" in ended.err) == (2, False)


def test_a_group_without_its_command_shows_its_help_as_it_is(pie):
    ended = pie("auth")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("Usage: pie auth ")
    assert "try:" not in ended.err


def test_an_unknown_flag_is_a_wrong_command_line(pie):
    ended = pie("run", "--fast")
    assert ended.code == 2
    assert ended.err.startswith("pie: ")
    assert "--fast" in ended.err
    assert ended.err.endswith("try: pie run --help\n")


@pytest.mark.parametrize("words", [["--json", "nonsense"], ["version", "--json", "--nonsense"]])
def test_errors_are_json_when_asked(pie, words):
    error = json.loads(pie(*words).err)["error"]
    assert error["type"] == "UsageError" or error["type"] == "NoSuchOption"
    assert set(error) == {"type", "message", "hint"}


@pytest.mark.parametrize("words", [["--json", "version"], ["version", "--json"]])
def test_common_options_stand_before_or_after_the_verb(pie, words):
    assert "pie-mlx" in json.loads(pie(*words).out)


def test_a_failure_prints_what_why_and_what_to_do(pie):
    ended = pie("config", "get", "model.0.wavelength")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == "pie: config: model.0.wavelength: no such key\n     try: 'pie config show' lists all of them\n"


@pytest.mark.parametrize("words", [["get", "server.prt"], ["set", "server.prt", "80"]])
def test_a_misspelt_key_suggests_the_nearest(pie, words):
    assert "server.prt: no such key, did you mean 'server.port'?" in pie("config", *words).err


def test_debug_adds_the_traceback(pie):
    assert "Traceback" in pie("--debug", "config", "get", "nonsense").err


def test_a_defect_of_ours_is_one_line_too(pie, monkeypatch):
    monkeypatch.setattr("pie_mlx.cli.version.LIBRARIES", (1,))
    ended = pie("version")
    assert ended.code == 1
    assert ended.err.startswith("pie: internal error: ")
    assert "Traceback" not in ended.err


@pytest.mark.parametrize(
    "error",
    [
        ModuleNotFoundError("No module named 'mlx'", name="mlx"),
        ImportError("no such file: libmlx.dylib", name="mlx.core"),
        RuntimeError("[metal::load_device] No Metal device available."),
    ],
)
def test_where_mlx_cannot_be_used_the_doctor_is_named(pie, monkeypatch, error):
    def broken(name):
        raise error

    monkeypatch.setattr("importlib.metadata.version", broken)
    ended = pie("version")
    assert ended.code == 1
    assert ended.err == f"pie: MLX cannot be used: {error}\n     try: run 'pie doctor'\n"


def test_a_path_that_cannot_be_is_no_defect_of_ours(pie):
    name = "a" * 300
    ended = pie("check", name)
    assert ended.code == 1
    assert ended.err == f"pie: {name}: File name too long\n     try: check the path, its permissions and the disk\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="Linux has a disk that is always full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_cannot_be_written_is_told_in_one_line(unbuffered):
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    command = f"{sys.executable} -m pie_mlx version > /dev/full"
    ended = subprocess.run(command, shell=True, env=environment, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr.splitlines()[0]) == (1, "pie: output: No space left on device")
    assert "Traceback" not in ended.stderr


def test_an_interruption_ends_with_130(pie, monkeypatch):
    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("importlib.metadata.version", interrupt)
    assert pie("version").code == 130


def test_version_names_what_pie_stands_on(pie):
    lines = pie("version").out.splitlines()
    assert [line.split()[0] for line in lines] == ["pie-mlx", "mlx", "mlx-lm", "transformers", "python"]


def test_the_version_is_asked_for_as_elsewhere(pie):
    assert pie("--version").out == f"pie-mlx {pie_mlx.__version__}\n"


def test_quiet_version_is_a_number_alone(pie):
    assert pie("version", "-q").out == f"{pie_mlx.__version__}\n"


def test_the_help_of_no_verb_loads_what_only_its_work_needs():
    script = (
        "import sys, click; from pie_mlx.cli.main import pie\n"
        "ctx = click.Context(pie)\n"
        "for name in pie.list_commands(ctx): pie.get_command(ctx, name).get_help(ctx)\n"
        "print(*sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    heavy = {"blake3", "cryptography", "huggingface_hub", "jinja2", "mlx", "numpy", "rich", "textual", "tomlkit"}
    heavy |= {"msgspec", "pie_mlx.config", "pie_mlx.runtime.store", "transformers", "websockets"}
    assert set(ended.stdout.split()) & heavy == set()


@pytest.mark.parametrize("word", ["driver", "smoke"])
def test_verbs_of_the_ancestor_name_what_took_their_place(pie, word):
    ended = pie(word)
    assert (ended.code, "use 'pie doctor'" in ended.err) == (2, True)


@pytest.mark.parametrize(("words", "code"), [("auth add ada key <&-", 1), ("auth list >&-", 0), ("auth list 2>&-", 0)])
def test_a_command_may_be_started_without_a_stream(words, code, tmp_path):
    command = f"{sys.executable} -c 'from pie_mlx.cli.main import main; main()' {words}"
    ended = subprocess.run(command, shell=True, env={**os.environ, "PIE_HOME": str(tmp_path)}, capture_output=True)
    assert (ended.returncode, b"internal error" in ended.stderr) == (code, False)
