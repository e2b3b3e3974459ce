"""lm-evaluation-harness, as it is published: the scores that it reads are those of the SDK."""

import asyncio
import json
import subprocess

import pytest

from pie_mlx.client import connect
from pie_mlx.engine.model.loading.sources import EMBEDDED
from tests.clients.conftest import INSTALLED
from tests.clients.scripted import MODEL

pytestmark = pytest.mark.timeout(240)
QUESTIONS = [
    {"question": "The capital of France is", "choices": ["Paris", "Rome", "a small town"], "answer": 0},
    {"question": "Two plus two is", "choices": ["four", "five"], "answer": 0},
]
TASK = """
task: choices
dataset_path: json
dataset_kwargs: {{data_files: {{test: {data}}}}}
output_type: multiple_choice
test_split: test
doc_to_text: question
doc_to_choice: choices
doc_to_target: answer
metric_list: [{{metric: acc}}]
"""
PROGRAM = '''
from inferlet import Context, Logprobs, Model, runtime


async def main(input):
    """The log-probability of each text behind its context, both cut into tokens as the harness does."""
    model = Model.load(runtime.models()[0])
    encode, scores = model.tokenizer().encode, []
    for context, text in input["pairs"]:
        tokens = encode(context)
        begin = len(tokens)
        tokens += encode(context + text)[begin:]
        step = Context(model).forward().input(tokens)
        probes = [step.probe(place - 1, Logprobs([tokens[place]])) for place in range(begin, len(tokens))]
        output = await step.execute()
        scores.append(sum(output.logprobs(probe)[0] for probe in probes))
    return scores
'''


MANIFEST = '[package]\nname = "scores"\nversion = "1.0.0"\n'


async def of_the_sdk(url, pairs):
    """The scores that a program computes."""
    async with await connect(url.replace("http://", "ws://"), username="ada") as client:
        await client.install(PROGRAM.encode(), MANIFEST, keep=False)
        return await (await client.launch("scores@1.0.0", {"pairs": pairs})).result()


def test_loglikelihoods_are_those_of_the_sdk(url, counted, environment, tmp_path):
    data, out = tmp_path / "questions.jsonl", tmp_path / "out"
    data.write_text("".join(json.dumps(question) + "\n" for question in QUESTIONS))
    (tmp_path / "choices.yaml").write_text(TASK.format(data=data))
    model = f"model={MODEL},base_url={url}/v1/completions,tokenizer={EMBEDDED / 'pie-tiny'},tokenized_requests=True"
    words = [str(INSTALLED / "lm_eval/bin/python"), "-m", "lm_eval", "run", "--model", "local-completions"]
    words += ["--model_args", model, "--tasks", "choices", "--include_path", str(tmp_path), "--log_samples"]
    ran = subprocess.run(
        [*words, "--output_path", str(out)],
        env={**environment, "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (samples,) = out.rglob("samples_*.jsonl")
    lines = [json.loads(line) for line in samples.read_text().splitlines()]
    asked = [(one["arg_0"], one["arg_1"]) for line in lines for one in line["arguments"].values()]
    read = [float(score) for line in lines for ((score, _),) in line["resps"]]
    assert len(read) == sum(len(question["choices"]) for question in QUESTIONS)
    assert read == pytest.approx(asyncio.run(of_the_sdk(url, asked)), abs=1e-3)
    assert counted().refused() == set()
