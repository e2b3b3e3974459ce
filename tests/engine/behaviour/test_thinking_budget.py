"""A model that may think for so many tokens, and then has to answer."""

from typing import Any

import pytest

from inferlet import Context, Generator, JsonSchema, Sampler, chat, reasoning
from pie_mlx.engine.text.grammar.thought_limit import LimitedWalk
from tests.engine.running import Running

BUDGET = 5


def thinker(engine: Running) -> Sampler:
    """Opens a thought at once and never ends it of its own accord; says nothing twice."""
    encode = engine.model.tokenizer().encode
    (opening,), (closing,), (stop,) = encode("<think>"), encode("</think>"), encode("<|im_end|>")
    return Sampler.argmax().penalized(presence=1000.0, bias={opening: 500.0, closing: -2000.0, stop: -2000.0})


def replying(context: Context, sampler: Sampler, **options: object) -> Generator:
    return context.user("Hello").generate(sampler, max_tokens=20, **options)  # type: ignore[arg-type]


def texts(decoder: Any, tokens: list[int]) -> str:
    """What a decoder shows of a reply that is not over."""
    said, event = "", decoder.feed(tokens)
    while not isinstance(event, chat.Idle | reasoning.Idle):
        said += event.text if isinstance(event, chat.Delta | reasoning.Delta) else ""
        event = decoder.feed([])
    return said


@pytest.mark.parametrize("budget", [0, 1, BUDGET])
async def test_at_the_budget_the_answer_begins(engine: Running, budget: int) -> None:  # G15
    with Context(engine.model) as context:
        tokens = await replying(context, thinker(engine), thinking_budget=budget).collect_tokens()
    encode = engine.model.tokenizer().encode
    assert tokens[0] == encode("<think>")[0]
    assert tokens[1 + budget] == encode("</think>")[0]
    assert len(tokens) == 20
    thought, answer = (texts(kind.Decoder(engine.model), tokens) for kind in (reasoning, chat))
    assert "think>" not in thought + answer
    assert answer


async def test_steps_drafts_and_texts_at_once_end_the_thought_at_the_same_place(engine: Running) -> None:  # G15, V7
    drawn: list[list[int]] = []
    for options in ({}, {"system_speculation": True}):
        with Context(engine.model) as context:
            generator = replying(context, thinker(engine), thinking_budget=BUDGET, **options)
            drawn.append([token async for step in generator for token in (await step.execute()).tokens])
    with Context(engine.model) as context:
        drawn.append(await replying(context, thinker(engine), thinking_budget=BUDGET).collect_tokens())
    assert drawn[0] == drawn[1] == drawn[2]


async def test_a_thought_that_opens_again_ends_at_once_however_many_tokens_a_step_draws(engine: Running) -> None:  # G15
    (opening,), (closing,) = map(engine.model.tokenizer().encode, ("<think>", "</think>"))
    sampler = Sampler.argmax().penalized(bias={opening: 500.0})
    with Context(engine.model) as context:
        generator = replying(context, sampler, thinking_budget=BUDGET)
        steps = [(await step.execute()).tokens async for step in generator]
    with Context(engine.model) as context:
        tokens = await replying(context, sampler, thinking_budget=BUDGET).collect_tokens()
    assert tokens == [token for step in steps for token in step]
    assert tokens == [opening] * (1 + BUDGET) + [closing] + [opening, closing] * 6 + [opening]


async def test_outside_a_thought_several_steps_are_drawn_without_a_mask(
    engine: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    masks: list[int] = []
    mask_of = LimitedWalk.mask
    with Context(engine.model) as context:
        generator = replying(context, Sampler.argmax(), thinking_budget=BUDGET)
        monkeypatch.setattr(LimitedWalk, "mask", lambda walk: masks.append(1) or mask_of(walk))
        drawn = await generator.collect_tokens()
    assert len(masks) < len(drawn) / 2


async def test_a_reply_without_a_thought_is_what_it_is_without_a_budget(engine: Running) -> None:  # G15
    with Context(engine.model) as first, Context(engine.model) as second:
        plain = replying(first, Sampler.argmax())
        limited = replying(second, Sampler.argmax(), thinking_budget=BUDGET)
        assert await limited.collect_tokens() == await plain.collect_tokens()
        assert limited.finish_reason == plain.finish_reason


async def test_a_schema_holds_beside_a_budget(engine: Running) -> None:  # G15, G13
    schema = JsonSchema({"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]})
    with Context(engine.model) as context:
        generator = context.user("Say it").generate(
            Sampler.argmax(), max_tokens=30, constrain=schema, thinking_budget=BUDGET
        )
        text = await generator.collect_text()
    assert text.replace(" ", "").startswith('{"ok":')
    assert generator.finish_reason in ("stop", "grammar")
