"""The components in Python are built from their sources and run: `make check-components`."""

import shutil
import subprocess
import sys
from pathlib import Path

from tests.examples.stage import EXAMPLES

BUILDER = Path(sys.executable).with_name("componentize-py")

PYTHON = """
from inferlet import Context, Model, Sampler, runtime
from rule import cooling

async def main(input):
    model = Model.load(runtime.models()[0])
    sampler = Sampler.multinomial(1.0, seed=input["seed"]).ruled(cooling(temperature=2.0, rate=0.8))
    with Context(model) as context:
        context.append(model.tokenizer().encode(input["prompt"]))
        generator = context.generate(sampler, max_tokens=input["max_tokens"], stop=[], auto_flush=False)
        return model.tokenizer().decode(await generator.collect_tokens())
"""


def built(folder, name):
    """A component of a folder."""
    words = ["-d", "wit", "-w", "program", "componentize", name, "-o", folder / f"{name}.wasm"]
    subprocess.run([BUILDER, *words], cwd=folder, check=True)
    return folder / f"{name}.wasm"


def copied(name, tmp_path):
    return Path(shutil.copytree(EXAMPLES / "components" / name, tmp_path / name))


def test_a_component_is_built_from_python_and_runs(play, tmp_path):
    played = play(built(copied("counting", tmp_path), "counting"), {"text": "one two three"})
    assert (played.messages, played.result) == (["pie-tiny"], "3")


def test_a_component_draws_with_a_rule_as_python_does(play, tmp_path):
    folder, input = copied("cooling", tmp_path), {"prompt": "Once upon a time", "seed": 3, "max_tokens": 24}
    subprocess.run([sys.executable, folder / "rule.py"], check=True)
    (folder / "main.py").write_text(PYTHON)
    assert play(built(folder, "cooling"), input).result == play(folder, input).result
