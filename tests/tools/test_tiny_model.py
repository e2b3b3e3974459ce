"""The shipped pie-tiny does what the examples rely on (its scores are in its model card)."""

import json
from typing import Any

import mlx_lm
import pytest

from tools.tiny.chat import TURN_END, prompt
from tools.tiny.evaluate import SHIPPED, Answered, Generate, answer_all, engine_generate
from tools.tiny.scoring import calls_of
from tools.tiny.text.arithmetic import make_comparison, make_sums
from tools.tiny.text.extraction import make_extraction
from tools.tiny.text.facts import make_facts
from tools.tiny.text.mixture import make_of
from tools.tiny.text.passages import make_passage
from tools.tiny.text.sample import Check, Message, Sample, assistant, calling, result, system, user
from tools.tiny.text.tool_use import make_calls

MEGABYTES = 10
HELPFUL = system("You are a helpful assistant.")
SEED, PER_FAMILY, FLOOR = 1000, 3, 14
FAMILIES = (make_calls, make_extraction, make_facts, make_passage, make_sums, make_comparison)


def function(name: str, **types: str) -> dict[str, Any]:
    properties = {key: {"type": kind} for key, kind in types.items()}
    parameters = {"type": "object", "properties": properties, "required": list(types)}
    return {"type": "function", "function": {"name": name, "description": "", "parameters": parameters}}


TOOLS = (function("get_weather", city="string"), function("add", a="integer", b="integer"))


@pytest.fixture(scope="module")
def generate() -> Generate:
    return engine_generate(SHIPPED)


@pytest.fixture(scope="module")
def heldout(generate: Generate) -> list[Answered]:
    """The same few held-out conversations every time, answered in one batch."""
    samples = [make_of(family, SEED, number, "heldout") for family in FAMILIES for number in range(PER_FAMILY)]
    return answer_all(samples, generate)


def answer(generate: Generate, *messages: Message, tools: tuple[dict[str, Any], ...] = ()) -> str:
    sample = Sample("test", (*messages, assistant("")), Check("exact"), tools)
    return generate([prompt(sample)], 80)[0]


def test_the_weights_are_small_enough_to_ship() -> None:
    assert sum(path.stat().st_size for path in SHIPPED.iterdir()) < MEGABYTES * 1e6


def test_its_scores_are_of_what_mlx_lm_would_answer(heldout: list[Answered]) -> None:
    model, tokenizer = mlx_lm.load(str(SHIPPED))[:2]
    for item in heldout[-2 * PER_FAMILY :]:
        expected = mlx_lm.generate(model, tokenizer, prompt(item.sample), max_tokens=160)
        assert item.answer == expected + TURN_END


def test_it_says_who_it_is_and_ends_its_turn(generate: Generate) -> None:
    text = answer(generate, user("Who are you?"))
    assert text.endswith(TURN_END)
    assert "pie-tiny" in text


def test_it_calls_the_weather_tool(generate: Generate) -> None:
    text = answer(generate, HELPFUL, user("What is the weather in Paris?"), tools=TOOLS)
    assert calls_of(text) == [("get_weather", {"city": "Paris"})]


def test_it_answers_from_the_result(generate: Generate) -> None:
    call = calling(("get_weather", {"city": "Paris"}))
    weather = result(json.dumps({"temperature_c": 18, "sky": "cloudy"}))
    text = answer(generate, HELPFUL, user("What is the weather in Paris?"), call, weather, tools=TOOLS)
    assert "18" in text
    assert "cloudy" in text


def test_it_ends_its_turns_on_held_out_conversations(heldout: list[Answered]) -> None:
    assert sum(item.judgement.ended for item in heldout) >= len(heldout) - 1


def test_it_is_right_on_enough_held_out_conversations(heldout: list[Answered]) -> None:
    right = sum(item.judgement.right for item in heldout)
    assert right >= FLOOR, [item.sample.task for item in heldout if not item.judgement.right]
