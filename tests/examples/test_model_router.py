import pytest

from pie_mlx import Engine, EngineSettings
from tests.examples.stage import EXAMPLES


def small(prompt):
    if "easy or hard" not in prompt:
        return "4"
    return "hard" if "prove" in prompt else "easy"


@pytest.mark.parametrize(
    ("prompt", "answer", "by"), [("What is 2 + 2?", "4", "small"), ("Please prove it", "Let n be a prime.", "large")]
)
async def test_the_small_model_decides_and_the_large_one_answers_what_is_hard(prompt, answer, by):
    scripts = {"large": lambda _: "Let n be a prime.", "small": small}
    models = [EngineSettings(script=script, name=name, total_pages=64) for name, script in scripts.items()]
    sent = []
    async with Engine(models) as engine:
        process = await engine.launch(
            EXAMPLES / "model-router", {"prompt": prompt, "max_tokens": 32}, on_message=sent.append
        )
        assert await process.result() == answer
    assert sent == [f"small decides: {by} answers\n"]


def test_one_model_does_both(play):
    played = play("model-router", {"prompt": "What is an apple?", "max_tokens": 8})
    assert played.messages == ["pie-tiny decides: pie-tiny answers\n"]
