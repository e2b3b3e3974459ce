"""A scripted model: the engine's real path, with answers that a test chooses."""

import pytest

from inferlet import Context, Model, Sampler, runtime
from pie_mlx.errors import InvalidArgumentError, TokenBudgetError


def model():
    return Model.load(runtime.models()[0])


async def ask(input):
    with Context(model()) as context:
        context.user(input["prompt"])
        return await context.generate(Sampler.argmax(), max_tokens=40).collect_text()


async def judge(input):
    with Context(model()) as context:
        context.user("judge")
        schema = {"type": "object", "properties": {"stars": {"enum": [3, 4]}}, "required": ["stars"]}
        return await context.generate(Sampler.argmax(), max_tokens=40).collect_json(schema=schema)


async def vote(input):
    """Eight forks of one prompt."""
    with Context(model()) as context:
        context.user("yes or no?" * 10)
        forks = [context.fork() for _ in range(8)]
        return [await one.generate(Sampler.top_p(1.0, 1.0), max_tokens=4).collect_text() for one in forks]


async def fail(input):
    raise ValueError("wrong")


def test_the_result_has_what_a_program_did(scripted, agent):
    result = scripted.run(agent, {"prompt": "Capital?"}, script=["Paris", "Yes"])
    assert result.result == {"answer": "Paris", "sure": "Yes"}
    assert result.messages == ("Paris",)
    assert result.output == "checking\n"
    lines = result.transcript.splitlines()
    assert lines[0].startswith("user: Capital? 0.")
    assert lines[1:] == [
        "answer: Paris",
        "sent: Paris",
        "user: Are you sure?",
        "answer: Yes",
        'returned: {"answer": "Paris", "sure": "Yes"}',
    ]
    assert next(type(event).__name__ for event in result.events) == "ProcessLaunched"
    assert result.usage.generated_tokens > 4


@pytest.mark.parametrize("text", ["Paris", "Ünïcödé 🎉 and\nlines", ""])
def test_any_text_can_be_an_answer(scripted, text):
    assert scripted.run(ask, {"prompt": "hello"}, script=text).result == text


def test_the_rule_whose_word_comes_last_in_the_prompt_answers(scripted):
    rules = {"cat": "meow", "dog": "woof"}
    assert scripted.run(ask, {"prompt": "dog, cat"}, script=rules).result == "meow"
    assert scripted.run(ask, {"prompt": "cat, dog"}, script=rules).result == "woof"


def test_a_function_sees_the_whole_prompt(scripted):
    seen = []
    result = scripted.run(ask, {"prompt": "hello"}, script=lambda prompt: seen.append(prompt) or "ok")
    assert (result.result, seen) == ("ok", ["<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n"])


@pytest.mark.parametrize("script", [[], {"word": "never"}])
def test_a_prompt_without_an_answer_fails_the_test_by_name(scripted, script):
    with pytest.raises(InvalidArgumentError, match=r"script: no .*hello"):
        scripted.run(ask, {"prompt": "hello"}, script=script)


def test_what_a_script_asserts_fails_the_test(scripted):
    def script(prompt):
        assert "please" in prompt
        return "ok"

    with pytest.raises(AssertionError, match="please"):
        scripted.run(ask, {"prompt": "hello"}, script=script)


def test_grammars_mask_what_it_says(scripted):
    assert scripted.run(judge, script='{"stars": 4}').result == {"stars": 4}
    assert scripted.run(judge, script="I refuse").result["stars"] in (3, 4)


def test_texts_with_probabilities_are_drawn_and_forks_share_the_prompt(scripted):
    result = scripted.run(vote, script={"judge": "no rule", "yes": {"yes": 0.5, "no": 0.5}})
    assert set(result.result) == {"yes", "no"}
    assert result.usage.cached_tokens == 7 * 32


def test_budgets_count_its_tokens(scripted):
    with pytest.raises(TokenBudgetError):
        scripted.run(ask, {"prompt": "hello " * 50}, script="ok", token_budget=10)


def test_what_ended_a_program_is_raised_or_returned(scripted):
    with pytest.raises(ValueError, match="wrong"):
        scripted.run(fail)
    assert str(scripted.run(fail, check=False).error) == "wrong"
