"""What a model says is split into text, reasoning and calls."""

import pytest

from inferlet import Model, runtime
from pie_mlx.runtime.engine import Engine

SCHEMA = '{"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}'
CALL = '<tool_call>\n{"name": "weather", "arguments": {"city": "Paris"}}\n</tool_call>'


@pytest.fixture
def spoken(openai_module):
    """Says a text with pie-tiny's tokenizer, token by token: text, reasoning and calls."""

    async def say(text, schemas, *, is_cut=False):
        async def main(input):
            model = Model.load(runtime.models()[0])
            speech = openai_module("decoding").ReplyDecoder(model, schemas)
            said = [speech.feed([token]) for token in model.tokenizer().encode(text)] + [speech.finish(is_cut=is_cut)]
            calls = [list(call) for one in said for call in one.calls]
            return ["".join(one.text for one in said), "".join(one.reasoning for one in said), calls]

        async with Engine(dummy=True, total_pages=16) as engine:
            return await engine.run(main)

    return say


async def test_reasoning_is_told_apart(spoken):
    assert await spoken("<think>So.</think>Hello", []) == ["Hello", "So.", []]  # D6


async def test_text_around_reasoning_stays_in_order(spoken):
    assert await spoken("One < two. <think>So.</think>Three <think>Well.</think>four", []) == [
        "One < two. Three four",
        "So.Well.",
        [],
    ]


async def test_text_around_a_call_nobody_offered_stays_in_order(spoken):
    text, _, _ = await spoken(f"Before {CALL} after", [])
    assert text == 'Before {"name": "weather", "arguments": {"city":"Paris"}} after'


async def test_a_call_is_no_text(spoken):
    assert await spoken(f"I see. {CALL}", [SCHEMA]) == ["I see. ", "", [["weather", '{"city":"Paris"}']]]


@pytest.mark.parametrize("text", [f"\n{CALL}\n{CALL}\n", f"{CALL} \n\n{CALL}"])
async def test_blanks_around_calls_are_no_text(spoken, text):
    assert await spoken(text, [SCHEMA]) == ["", "", [["weather", '{"city":"Paris"}']] * 2]


@pytest.mark.parametrize("text", ["\n\n", "\n\nHello", " Hello\n\nAnna \n"])
async def test_blanks_of_a_reply_that_calls_nothing_are_text(spoken, text):
    assert await spoken(text, [SCHEMA]) == [text, "", []]


async def test_text_after_a_call_is_text(spoken):
    assert (await spoken(f"{CALL}\nThat is all.", [SCHEMA]))[0] == "\nThat is all."


async def test_a_call_nobody_offered_is_not_lost(spoken):
    text, _, calls = await spoken(CALL, [])
    assert (text, calls) == ('{"name": "weather", "arguments": {"city":"Paris"}}', [])


async def test_what_was_cut_short_is_given_out_at_the_end(spoken):
    assert (await spoken("Hello <tool", []))[0] == "Hello <tool"


@pytest.mark.parametrize(
    ("said", "calls"),
    [
        (CALL[:12], []),
        (CALL.partition("er")[0], []),
        (CALL.partition("Par")[0], [["weather", '{"city": "']]),
        (CALL.partition("\n</")[0], [["weather", '{"city": "Paris"}']]),
        (CALL + CALL[:-20], [["weather", '{"city":"Paris"}'], ["weather", '{"city": "P']]),
    ],
)
async def test_a_call_that_is_cut_short_is_no_text(spoken, said, calls):
    assert await spoken(f"I see. {said}", [SCHEMA], is_cut=True) == ["I see. ", "", calls]


@pytest.mark.parametrize(("schemas", "is_cut"), [([], True), ([SCHEMA], False)])
async def test_what_begins_like_a_call_is_text_where_none_is_offered_or_the_model_ended_it(spoken, schemas, is_cut):
    assert await spoken(CALL[:-20], schemas, is_cut=is_cut) == [CALL[:-20], "", []]
