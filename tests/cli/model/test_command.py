import hashlib
import json
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest

from tests.cli.schemas import parsed

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A Hugging Face cache of the test's own."""
    folder = tmp_path / "hub"
    folder.mkdir()
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(folder))
    monkeypatch.setattr("huggingface_hub.utils._cache_manager.HF_HUB_CACHE", str(folder), raising=False)
    return folder


def put(cache, repo, files, revision="main"):
    """A repo as the hub's client leaves it."""
    folder = cache / f"models--{repo.replace('/', '--')}"
    snapshot = folder / "snapshots" / COMMIT
    for directory in (snapshot, folder / "blobs", folder / "refs"):
        directory.mkdir(parents=True)
    (folder / "refs" / revision).write_text(COMMIT)
    for number, (name, data) in enumerate(files.items()):
        blob = folder / "blobs" / f"{number:040}"
        blob.write_bytes(data)
        (snapshot / name).symlink_to(f"../../blobs/{blob.name}")
    return snapshot


def files_of(directory):
    return {file.name: file.read_bytes() for file in directory.iterdir() if file.is_file()}


@pytest.fixture
def whole(tiny_model_directory):
    return files_of(tiny_model_directory("llama"))


def listed(pie):
    return {row["name"]: row for row in parsed("model list", pie("model", "list", "--json").out)}


def test_the_embedded_model_is_always_there(pie, cache):
    row = listed(pie)["pie-tiny"]
    assert (row["loads"], row["embedded"], row["revision"]) == (True, True, "")


def test_without_a_cache_only_the_embedded_model_is_listed(pie, cache):
    cache.rmdir()
    assert list(listed(pie)) == ["pie-tiny"]


def test_a_model_of_the_cache_is_listed(pie, cache, whole):
    snapshot = put(cache, "org/model", whole)
    row = listed(pie)["org/model"]
    assert (row["problem"], row["architecture"], row["path"]) == ("", "llama", str(snapshot))
    assert row["revision"] == COMMIT


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"config.json": None}, "holds no config.json"),
        ({"config.json": b"{"}, "config.json: not JSON"),
        ({"config.json": b'{"model_type": "gpt99"}'}, "mlx-lm does not support the architecture gpt99"),
        ({"config.json": b'{"model_type": "../x"}'}, "model_type is '../x'"),
        ({"config.json": b'{"model_type": "llama4"}'}, "the architecture llama4 is not supported"),
        ({"model.safetensors": None}, "holds no model*.safetensors"),
        ({"model.safetensors": b"\0" * 50}, "model.safetensors: it is no safetensors file"),
        (
            {"model.safetensors.index.json": b'{"weight_map": {"a": "model-2.safetensors"}}'},
            "lacks model-2.safetensors",
        ),
        ({"tokenizer.json": None}, "no tokenizer"),
    ],
)
def test_what_cannot_be_loaded_says_why(pie, cache, whole, change, why):
    put(cache, "org/model", {name: data for name, data in {**whole, **change}.items() if data is not None})
    row = listed(pie)["org/model"]
    assert (row["loads"], why in row["problem"]) == (False, True), row["problem"]


def test_a_download_that_was_cut_short_is_told_from_another_format(pie, cache, whole):
    snapshot = put(cache, "org/model", {name: data for name, data in whole.items() if name != "model.safetensors"})
    (snapshot.parent.parent / "blobs" / "abc.incomplete").write_bytes(b"half")
    assert listed(pie)["org/model"]["problem"].startswith("its download was cut short; fetch it again")


def test_the_table_says_what_loads(pie, cache, whole):
    put(cache, "org/model", {"README.md": b""})
    lines = pie("model", "list").out.splitlines()
    assert lines[0].split() == ["MODEL", "SIZE", "MODIFIED", "SOURCE", "LOADS"]
    assert lines[1].split()[-2:] == ["pie-mlx", "yes"]
    assert "no: holds no config.json" in lines[2]


def test_data_sets_are_no_models(pie, cache):
    put(cache, "org/model", {"a": b""}).parent.parent.rename(cache / "datasets--org--data")
    assert list(listed(pie)) == ["pie-tiny"]


def test_a_model_is_shown(pie, cache, whole):
    put(cache, "org/model", whole)
    assert parsed("model show", pie("model", "show", "org/model", "--json").out)["name"] == "org/model"
    shown = pie("model", "show", "org/model").out
    assert "architecture       llama" in shown
    assert re.search(r"  size               [\d.]+ KiB\n", shown)
    assert "loads              yes\n" in shown


def test_a_model_in_a_directory_is_shown(pie, tiny_model_directory, tmp_path):
    found = parsed("model show", pie("model", "show", tiny_model_directory("llama"), "--json").out)
    assert (found["architecture"], found["loads"], found["embedded"]) == ("llama", True, False)
    assert "problem            holds no config.json" in pie("model", "show", tmp_path).out


def test_no_name_is_no_model(pie, monkeypatch, tiny_model_directory):
    monkeypatch.chdir(tiny_model_directory("llama"))
    ended = pie("model", "show", "")
    assert ended.code == 1
    assert "is not on this disk" in ended.err


def test_a_model_is_removed_with_its_files(pie, cache, whole):
    put(cache, "org/model", whole)
    assert parsed("model remove", pie("model", "remove", "-y", "--json", "org/model").out)["freed_bytes"] > 0
    assert list(cache.glob("models--*")) == []


def test_nothing_is_removed_where_nobody_can_say_yes(pie, cache, whole):
    put(cache, "org/model", whole)
    assert (pie("model", "remove", "org/model").code, len(listed(pie))) == (2, 2)


def test_a_no_removes_no_model(pie, cache, whole, answer):
    put(cache, "org/model", whole)
    answer("n\n")
    ended = pie("model", "remove", "org/model")
    assert ended.err.endswith("pie: org/model was not removed: the answer was no\n")
    assert (ended.code, len(listed(pie))) == (1, 2)


@pytest.mark.parametrize(("name", "why"), [("pie-tiny", "is part of pie-mlx"), ("org/none", "is not on this disk")])
def test_what_cannot_be_removed_is_said_so(pie, cache, name, why):
    ended = pie("model", "remove", "-y", name)
    assert (ended.code, why in ended.err) == (1, True)


def test_the_embedded_model_needs_no_download(pie):
    ended = pie("model", "download", "pie-tiny")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.rstrip().endswith("pie-tiny")


@pytest.mark.parametrize("verb", ["download", "pull"])
def test_without_a_network_the_reason_is_said(pie, verb):
    ended = pie("model", verb, "-q", "nobody/nothing")  # the tests run with HF_HUB_OFFLINE=1
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith("pie: model: nobody/nothing could not be downloaded: ")
    assert len(ended.err.splitlines()) == 2


def test_what_is_no_repo_is_said_so(pie):
    ended = pie("model", "download", "--offline", "a/b/c")
    assert ended.code == 1
    assert "is no repo id" in ended.err


def test_offline_takes_what_is_there(tmp_path, whole):
    snapshot = put(tmp_path, "org/model", whole)
    code = "from pie_mlx.cli.main import execute; execute(['model', 'download', '--json', 'org/model'])"
    environment = {"HF_HUB_CACHE": str(tmp_path), "HF_HUB_OFFLINE": "1", "HOME": str(tmp_path)}
    ended = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert json.loads(ended.stdout) == {"name": "org/model", "path": str(snapshot), "problem": ""}


@pytest.fixture
def gguf_file(tmp_path, tiny_model_directory):
    """A tiny model as one file."""
    from tests.gguf_files import write_gguf

    return write_gguf(tiny_model_directory("llama"), tmp_path / "tiny-Q8_0.gguf", "Q8_0")


def test_a_gguf_file_is_converted_with_its_cost_told(pie, gguf_file, home):
    ended = pie("model", "convert", gguf_file)
    path, *choices = ended.out.splitlines()
    assert path.startswith(f"{home}/models/tiny-Q8_0-")
    assert any(
        re.fullmatch(r"  Q8_0 -> 8 bits, groups of 32: exact, \d+ -> \d+ MiB, \d+ tensors", one) for one in choices
    )
    assert pie("model", "show", path).out.splitlines()[1:2] == ["  loads              yes"]


def test_a_conversion_is_written_where_it_is_asked_for(pie, gguf_file, tmp_path):
    ended = pie("model", "convert", gguf_file, "--dequantize", "--output", tmp_path / "out", "--json")
    assert json.loads(ended.out)["path"] == str(tmp_path / "out")
    assert "quantization" not in json.loads((tmp_path / "out" / "config.json").read_text())
    assert pie("model", "convert", gguf_file, "--output", tmp_path / "out").code == 2


def test_a_gguf_file_answers_a_question_in_one_command(pie, gguf_file):
    ended = pie("chat", "--model", gguf_file, "--max-tokens", "3", "Hello?")
    assert (ended.code, bool(ended.out)) == (0, True), ended.err


def test_the_gguf_files_of_a_repo_are_listed_each(pie, cache, gguf_file):
    data = gguf_file.read_bytes()
    put(cache, "org/model", {"m-Q4_K_M.gguf": data, "m-UD-Q8_0.gguf": data, "config.json": b"{}"})
    rows = listed(pie)
    assert set(rows) == {"pie-tiny", "org/model:Q4_K_M", "org/model:UD-Q8_0"}
    row = rows["org/model:Q4_K_M"]
    assert (row["loads"], row["architecture"], row["source"]) == (True, "llama", "hugging-face")
    assert row["quantization"] == "GGUF, Q8_0 and F32"


def test_removing_a_model_frees_what_was_converted_too(pie, cache, gguf_file, home):
    put(cache, "org/model", {"m-Q8_0.gguf": gguf_file.read_bytes()})
    assert pie("model", "convert", "org/model").code == 0
    before = sum(
        file.stat().st_size
        for root in (cache, home)
        for file in root.rglob("*")
        if not file.is_symlink() and file.is_file() and file.parent.name != "refs"
    )
    freed = json.loads(pie("model", "rm", "-y", "--json", "org/model").out)["freed_bytes"]
    left = sum(file.stat().st_size for root in (cache, home) for file in root.rglob("*") if file.is_file())
    assert (freed, left) == (before, 0)


def test_a_model_of_another_program_is_left_to_it(pie, cache, gguf_file, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / ".lmstudio" / "models" / "owner" / "tiny"
    folder.mkdir(parents=True)
    gguf_file.rename(folder / "tiny.gguf")
    ended = pie("model", "rm", "-y", "owner/tiny")
    assert "belongs to lm-studio, and nothing was converted from it" in ended.err
    pie("model", "convert", "owner/tiny")
    assert json.loads(pie("model", "rm", "-y", "--json", "owner/tiny").out)["freed_bytes"] > 0
    assert (folder / "tiny.gguf").exists()


@pytest.fixture
def memory(monkeypatch):
    """Gives this machine some memory."""
    from pie_mlx.backends import current_backend

    return lambda size: monkeypatch.setattr(current_backend(), "memory_bytes", lambda: size)


def test_the_memory_a_model_needs_is_told_for_a_length(pie, cache, whole, memory):
    put(cache, "org/model", whole)
    weights = len(whole["model.safetensors"])
    per_token = 2 * 4 * 4 * 16 * 2  # keys and values, layers, heads, width, bytes
    memory(weights + 100 * per_token)
    rows = [json.loads(pie("model", "show", "org/model", "--json", "--context", one).out) for one in (100, 101)]
    assert [row["needed_bytes"] - weights for row in rows] == [100 * per_token, 101 * per_token]
    assert [row["fits"] for row in rows] == [True, False]
    assert "here: does not fit\n" in pie("model", "show", "org/model").out


def test_models_are_recommended_by_the_memory_there_is(pie, cache, whole, memory):
    put(cache, "mlx-community/Qwen3-4B-4bit", whole)
    memory(8 << 30)
    rows = json.loads(pie("model", "recommend", "--json").out)
    assert rows[0]["name"] == "mlx-community/Qwen3-8B-4bit"
    assert {row["name"]: row["on_disk"] for row in rows}["mlx-community/Qwen3-4B-4bit"]
    assert pie("model", "recommend", "-q", "--context", 40_000).out.splitlines()[0] == "mlx-community/Qwen3-1.7B-4bit"


def test_a_search_looks_at_this_disk_alone(pie, cache, whole, monkeypatch):
    put(cache, "org/model", whole)
    monkeypatch.setattr("huggingface_hub.list_models", None)
    assert pie("model", "search", "-q", "ORG", "llama").out == "org/model\n"
    assert "--online asks the hub" in pie("model", "search", "nothing").err
    assert [row["name"] for row in json.loads(pie("model", "search", "tiny", "--json").out)] == ["pie-tiny"]


def test_a_search_asks_the_hub_only_when_told_to(pie, cache, whole, monkeypatch):
    put(cache, "org/model", whole)
    asked = []

    def list_models(**options):
        asked.append(options)
        return [SimpleNamespace(id="org/model", downloads=12345), SimpleNamespace(id="org/other", downloads=None)]

    monkeypatch.setattr("huggingface_hub.list_models", list_models)
    lines = pie("model", "search", "--online", "org", "--limit", 2).out.splitlines()
    assert [line.split() for line in lines[1:]] == [["org/model", "12,345", "yes"], ["org/other", "0"]]
    assert asked == [{"search": "org", "filter": "mlx", "sort": "downloads", "limit": 2}]


def test_a_hub_out_of_reach_is_told(pie, cache):
    ended = pie("model", "search", "--online", "x")  # the tests run with HF_HUB_OFFLINE=1
    assert (ended.code, "huggingface.co could not be searched: " in ended.err) == (1, True)


def named_by_digest(snapshot):
    """Renames the blobs of a snapshot as the hub names them."""
    for link in snapshot.iterdir():
        blob = link.resolve()
        data = blob.read_bytes()
        large = link.suffix == ".safetensors"
        name = hashlib.sha256(data) if large else hashlib.sha1(b"blob %d\0" % len(data) + data)
        link.unlink()
        link.symlink_to(f"../../blobs/{blob.rename(blob.with_name(name.hexdigest())).name}")


def test_files_are_verified_by_the_digests_they_were_fetched_by(pie, cache, whole):
    snapshot = put(cache, "org/model", whole)
    named_by_digest(snapshot)
    assert pie("model", "verify", "org/model").code == 0
    blob = (snapshot / "model.safetensors").resolve()
    blob.write_bytes(blob.read_bytes()[:-1] + b"!")
    ended = pie("model", "verify", "org/model", "--json")
    assert ended.code == 1
    assert [row["file"] for row in json.loads(ended.out) if row["holds"] is False] == ["model.safetensors"]


def test_a_model_without_digests_is_not_called_damaged(pie, cache):
    assert set(re.findall("has no digest|as fetched|damaged", pie("model", "verify", "pie-tiny").out)) == {
        "has no digest"
    }
