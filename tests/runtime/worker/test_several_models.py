"""A program with two models in one engine, in each language: what belongs to a model is found there."""

import json

import pytest
import pytest_asyncio

from pie_mlx import Engine, EngineSettings
from pie_mlx.runtime.worker.settings import WorkerSettings
from tests.wasm.components import wasm
from tests.wasm.ruled import ruled

pytestmark = pytest.mark.asyncio(loop_scope="module")

PROMPT, STEPS = "the quick brown fox", 8
MODELS = ["router", "main"]

PYTHON = """
    import asyncio
    from inferlet import Context, Model, Regex, Sampler, errors, rules, scheduling

    async def text(model, prompt):
        with Context(model) as context:
            context.append(model.tokenizer().encode(prompt)).save(f"of {model.name}")
            with context.fork() as fork:
                generator = fork.generate(Sampler.argmax(), max_tokens=8, stop=[], auto_flush=False)
                return await generator.collect_text()

    async def has_digits(model):
        with Context.take(model, f"of {model.name}") as context:
            generator = context.generate(Sampler.argmax(), max_tokens=3, constrain=Regex("[0-9]+"), auto_flush=False)
            return (await generator.collect_text()).isdigit()

    async def main(input):
        models = [Model.load(name) for name in input["models"]]
        texts = await asyncio.gather(*[text(model, input["prompt"]) for model in models])
        saved = [[Context.open(model, f"of {name}") is not None for name in input["models"]] for model in models]
        digits = await asyncio.gather(*[has_digits(model) for model in models])
        balances = [scheduling.balance(model) > 0 for model in models]
        first, second = [Context(model).append([5]) for model in models]
        try:
            first.generate(Sampler.argmax().ruled(rules.guidance()), others=[second], auto_flush=False)
        except errors.InvalidArgumentError as error:
            return [texts, saved, digits, balances, error.message]
"""
TYPESCRIPT = """
    import { Context, errors, Model, regex, rules, Sampler, scheduling } from 'inferlet';

    async function text(model: Model, prompt: string) {
      using context = new Context(model);
      context.append(model.tokenizer().encode(prompt)).save(`of ${model.name}`);
      using fork = context.fork();
      return await fork.generate(Sampler.argmax(), { maxTokens: 8, stop: [], autoFlush: false }).collectText();
    }

    async function hasDigits(model: Model) {
      using context = Context.take(model, `of ${model.name}`)!;
      const options = { maxTokens: 3, constrain: regex('[0-9]+'), autoFlush: false };
      return /^[0-9]+$/.test(await context.generate(Sampler.argmax(), options).collectText());
    }

    export async function main(input: { models: string[]; prompt: string }) {
      const models = input.models.map((name) => Model.load(name));
      const texts = await Promise.all(models.map((model) => text(model, input.prompt)));
      const saved = models.map((model) => input.models.map((name) => Context.open(model, `of ${name}`) !== undefined));
      const digits = await Promise.all(models.map(hasDigits));
      const balances = models.map((model) => scheduling.balance(model) > 0);
      const [first, second] = models.map((model) => new Context(model).append([5]));
      try {
        first.generate(Sampler.argmax().ruled(rules.guidance()), { others: [second], autoFlush: false });
      } catch (error) {
        if (error instanceof errors.InvalidArgumentError) return [texts, saved, digits, balances, error.message];
      }
    }
"""


ALONE = """
    from inferlet import Context, Model, Sampler, rule
    from inferlet.rules import Number, Row, Value

    @rule
    def cooling(row: Row, temperature: Number, rate: Number) -> tuple[Value, dict[str, Number]]:
        return row.logits / temperature, {"temperature": temperature * rate}

    async def main(input):
        use, model = cooling(temperature=2.0, rate=0.8), Model.load(input["model"])
        sampler = Sampler.multinomial(1.0, seed=3).ruled(use) if input["ruled"] else Sampler.argmax()
        with Context(model) as context:
            context.append(model.tokenizer().encode(input["prompt"]))
            tokens = await context.generate(sampler, max_tokens=8, stop=[], auto_flush=False).collect_tokens()
        return model.tokenizer().decode(tokens), use.code.hex()
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine(tiny_model_directory, tmp_path_factory):
    models = [
        EngineSettings("pie-tiny", name="main", total_pages=64),
        EngineSettings(str(tiny_model_directory("llama")), name="router", total_pages=64),
    ]
    compiled = tmp_path_factory.mktemp("home") / "compiled"
    workers = WorkerSettings(sandbox="off", compiled_directory=str(compiled))
    async with Engine(models, isolation="process", workers=workers) as started:
        yield started


@pytest.fixture
def alone(engine, program):
    """What Python draws with one of the models, and the rule that it may draw with."""

    async def run(model, prompt=PROMPT, *, ruled=False):
        input = {"model": model, "prompt": prompt, "ruled": ruled}
        return await engine.run(program(ALONE, "alone.py"), input)

    return run


@pytest.mark.parametrize(("name", "source"), [("main.py", PYTHON), ("main.ts", TYPESCRIPT)])
async def test_contexts_of_both_models_are_at_work_at_once(engine, program, alone, name, source):
    input = {"models": MODELS, "prompt": PROMPT}
    texts, saved, digits, balances, refusal = await engine.run(program(source, name), input)
    assert texts == [(await alone(model))[0] for model in MODELS]
    assert texts[0] != texts[1]
    assert saved == [[True, False], [False, True]]
    assert (digits, balances) == ([True, True], [True, True])
    assert "others: rows of two models, router and main, which do not share a vocabulary" in refusal


async def test_a_component_computes_with_both_models(engine, alone, tmp_path):
    input = {"quick": "brown fox"}  # its text is what the component continues
    texts = [await alone(model, json.dumps(input), ruled=True) for model in MODELS]
    path = tmp_path / "main.wasm"
    path.write_bytes(wasm(ruled(bytes.fromhex(texts[0][1]), STEPS, MODELS)))
    assert await engine.run(path, input) == "".join(f"{text}\n" for text, _ in texts)
