"""Manifests, sources, packages and models made to hurt whoever reads them."""

import asyncio
import json
import os
import shutil

import pytest
from websockets.asyncio.client import connect

from pie_mlx.runtime.store.archive import Entry
from pie_mlx.runtime.store.packing import pack
from tests.models import write_tiny_model
from tests.server.speaking import Speaker

IDENTITY = '[package]\nname = "bomb"\nversion = "0.1.0"\n'
DOTTED = ".".join("a" * (29 << 10))
MAIN = "async def main(input):\n    return 1\n"
GROWTH_BYTES = 256 << 20

MANIFESTS = {
    "a dotted key": f"{IDENTITY}{DOTTED} = 1\n",
    "a dotted section": f"{IDENTITY}[{DOTTED}]\n",
    "nested lists": f"{IDENTITY}a = {'[' * 60_000}\n",
    "nested tables": f"{IDENTITY}a = {'{ a = ' * 9000}\n",
    "a long version": '[package]\nname = "bomb"\nversion = "1.0.' + "9" * 5000 + '"\n',
    "a long number": f"{IDENTITY}[parameters]\na = {{ default = 0x{'f' * 50_000} }}\n",
    "a requirement of blanks": f'{IDENTITY}[runtime]\ninferlet = "{" " * 60_000}"\n',
    "a marker of brackets": f'{IDENTITY}[runtime]\npackages = ["a; {"(" * 50_000}"]\n',
}

SOURCES = {
    "names": "a;" * (512 << 10),
    "formatted text": 'f"' + "{a}" * (70 << 10),
    "a chain": "a" + ".a" * (500 << 10),
    "signs": "-" * (1 << 20) + "1",
    "seven mebibytes": "[]\n" * (7 << 18),
}


def attack(target, *uploads):
    """What the engine answers to programs with these manifests, sent one after the other."""

    async def send():
        async with connect(target.url, max_size=None) as socket:
            speaker = Speaker(socket)
            await speaker.ask("auth_identify", username="attacker")
            return [await speaker.upload(payload, manifest) for payload, manifest in uploads]

    return asyncio.run(send())


def test_no_manifest_holds_up_an_engine(target):
    with target.stays_healthy(GROWTH_BYTES):
        answers = attack(target, *((MAIN.encode(), manifest) for manifest in MANIFESTS.values()))
    told = dict(zip(MANIFESTS, answers, strict=True))
    # What a package asks for is looked at when it is launched.
    assert {name for name, (ok, _) in told.items() if ok} == {"a marker of brackets"}, told
    assert all("\n" not in text and len(text) < 1000 for ok, text in answers if not ok)


def test_no_source_holds_up_an_engine(target):
    with target.stays_healthy(GROWTH_BYTES):
        answers = attack(target, *((source.encode(), IDENTITY) for source in SOURCES.values()))
    assert [ok for ok, _ in answers] == [False] * len(SOURCES), answers
    assert all(text.startswith("main.py") for _, text in answers), answers


def test_no_manifest_in_a_package_holds_up_the_command_line(target, tmp_path):
    package = tmp_path / "bomb.pie"
    for manifest in MANIFESTS.values():
        package.write_bytes(pack([Entry("main.py", MAIN.encode()), Entry("Pie.toml", manifest.encode())]))
        code, out, err = target.pie("check", package)
        assert (code, err) == (1, ""), out


@pytest.mark.parametrize("words", [("check",), ("build",), ("run",)], ids=" ".join)
def test_no_source_holds_up_the_command_line(words, target, tmp_path):
    (tmp_path / "main.py").write_text(SOURCES["formatted text"][: 100 << 10])
    code, out, err = target.pie(*words, tmp_path / "main.py")
    assert code != 0
    assert "Traceback" not in out + err


def test_no_model_holds_up_the_list_of_models_nor_an_engine(make_target, tmp_path, monkeypatch):
    snapshots = tmp_path / "hub"
    breaks = {
        "layers": lambda folder: change(folder, num_hidden_layers=100_000),
        "deep": lambda folder: (folder / "config.json").write_text("[" * 100_000),
        "pipe": lambda folder: os.mkfifo(folder / "model-2.safetensors"),
        "null": lambda folder: (folder / "config.json").write_text("null"),
    }
    whole = write_tiny_model(tmp_path / "whole", "llama")
    for name, destroy in breaks.items():
        folder = snapshots / f"models--bad--{name}" / "snapshots" / "0123"
        shutil.copytree(whole, folder)
        destroy(folder)
        refs = snapshots / f"models--bad--{name}" / "refs"
        refs.mkdir()
        (refs / "main").write_text("0123")
    monkeypatch.setenv("HF_HUB_CACHE", str(snapshots))
    target = make_target()
    code, out, err = target.pie("model", "list", "--json")
    assert (code, err) == (0, "")
    problems = {row["name"]: row["problem"] for row in json.loads(out) if row["name"].startswith("bad/")}
    assert problems.keys() == {f"bad/{name}" for name in breaks}
    assert all(problems.values()), problems
    layers = snapshots / "models--bad--layers/snapshots/0123"
    code, out, err = target.pie("run", "text-completion", "--model", layers, "--", "--prompt", "a")
    assert code != 0
    assert "num_hidden_layers is 100000" in err


def change(folder, **keys):
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | keys))
