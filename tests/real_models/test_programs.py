"""Programs, chat, tools and schemas on real models."""

import asyncio
import json
from collections.abc import Iterator

import jsonschema
import openai
import pytest

from inferlet import Context, Model, Sampler, runtime
from pie_mlx import Engine
from tests.real_models.conftest import RealModels
from tests.serving import Serving

pytestmark = pytest.mark.timeout(1800)
REPEATED = "The red fox sat on the red box. The red fox sat on the red box. The red fox sat on"
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather in a city now.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
TIME = {"type": "function", "function": {**WEATHER["function"], "name": "get_time", "description": "The time there."}}
NAMED = {"type": "function", "function": {"name": "get_weather"}}
PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 20}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}


async def continued(input):
    """Greedy text after a prompt: by itself, by two forks, and with drafts."""
    model = Model.load(runtime.models()[0])
    with Context(model) as context:
        *first, last = model.tokenizer().encode(input["prompt"])
        await context.append(first).flush()
        texts = []
        for drafts in (False, False, True):
            with context.fork() as fork:
                generator = fork.append([last]).generate(
                    Sampler.argmax(), max_tokens=12, auto_flush=False, system_speculation=drafts
                )
                texts.append(await generator.collect_text())
        return texts


async def test_forks_and_drafts_change_no_token(models: RealModels) -> None:
    async with Engine(str(models.directory("smollm2")), total_pages=256) as engine:
        first, second, drafted = await engine.run(continued, {"prompt": REPEATED})
    assert first == second == drafted
    assert "red box" in first


async def test_eight_programs_at_once_say_what_each_says_alone(models: RealModels) -> None:
    prompts = [f"{number} plus {number} equals" for number in range(8)]
    async with Engine(str(models.directory("smollm2")), total_pages=512) as engine:
        together = await asyncio.gather(*(engine.run(continued, {"prompt": prompt}) for prompt in prompts))
        alone = [await engine.run(continued, {"prompt": prompt}) for prompt in prompts[:2]]
    assert together[:2] == alone
    assert len({texts[0] for texts in together}) > 4


@pytest.fixture(scope="module")
def client(models: RealModels, tmp_path_factory: pytest.TempPathFactory) -> Iterator[openai.OpenAI]:
    """A client of an engine with Qwen's coder, converted when the engine starts."""
    serving = Serving(tmp_path_factory.mktemp("home"), "--port", "0", model=("--model", models.gguf("qwen-coder")))
    try:
        yield openai.OpenAI(base_url=serving.ready()["openai"], api_key="none", timeout=900, max_retries=0)
    finally:
        serving.clean_up()


def ask(client: openai.OpenAI, question: str, **options):
    messages = [{"role": "user", "content": question}]
    model = client.models.list().data[0].id
    return client.chat.completions.create(model=model, messages=messages, **{"temperature": 0, **options}).choices[0]


def test_a_question_is_answered_and_the_answer_ends(client: openai.OpenAI) -> None:
    choice = ask(client, "What is the capital of France? Answer with one word.", max_tokens=16)
    assert "Paris" in choice.message.content
    assert choice.finish_reason == "stop"


def test_a_tool_that_must_be_called_is_called_once_with_arguments_that_fit(client: openai.OpenAI) -> None:
    choice = ask(client, "How is the weather in Paris?", tools=[WEATHER], tool_choice=NAMED, max_tokens=64)
    (call,) = choice.message.tool_calls
    assert call.function.name == "get_weather"
    assert "Paris" in json.loads(call.function.arguments)["city"]


@pytest.mark.parametrize(
    "one_call", [{"tool_choice": NAMED}, {"tool_choice": "required", "parallel_tool_calls": False}]
)
def test_exactly_one_call_is_made_where_one_is_asked_for(client: openai.OpenAI, one_call: dict) -> None:
    question = "How is the weather in Paris, in Rome and in Oslo?"
    for seed in range(3):
        choice = ask(client, question, tools=[WEATHER, TIME], max_tokens=64, seed=seed, temperature=1, **one_call)
        (call,) = choice.message.tool_calls
        assert json.loads(call.function.arguments).keys() == {"city"}
        assert (choice.finish_reason, choice.message.content) == ("tool_calls", None)


def test_a_schema_shapes_the_answer(client: openai.OpenAI) -> None:
    asked = {"type": "json_schema", "json_schema": {"name": "person", "schema": PERSON, "strict": True}}
    choice = ask(client, "Ada Lovelace died at 36. Write that as JSON.", response_format=asked, max_tokens=64)
    answer = json.loads(choice.message.content)
    jsonschema.validate(answer, PERSON)
    assert answer["age"] == 36
