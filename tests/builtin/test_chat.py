"""The conversation that comes with the engine."""

import pytest

from pie_mlx.errors import OutOfPagesError
from pie_mlx.events import ContextCreated
from pie_mlx.runtime.daemon import builtin_program
from pie_mlx.runtime.embedding import Engine

FORGOTTEN = "(The conversation got longer than the model can read: its older half is forgotten.)\n"
TOO_LONG = "(That is longer than the model can read: leave something out.)\n"
GREEDY = {"temperature": 0.0, "max_tokens": 64}


async def talk(*says, pages=128, **given):
    """Play a conversation: what was sent, what was returned, and how many contexts there were."""
    sent, events = [], []
    async with Engine("pie-tiny", total_pages=pages, on_event=events.append) as engine:
        process = await engine.launch(builtin_program("chat"), {**GREEDY, **given}, on_message=sent.append)
        for line in says:
            process.send(line)
        process.close_session()
        result = await process.result()
    return "".join(sent), result, sum(isinstance(event, ContextCreated) for event in events)


async def test_every_message_is_a_turn_on_one_context():
    assert await talk("My name is Anna.", "What is my name?") == (
        "Nice to meet you, Anna!\nYour name is Anna.\n",
        "Your name is Anna.",
        1,
    )


async def test_turns_are_asked_for_where_somebody_types_and_empty_ones_again():
    sent, result, _ = await talk("My name is Anna.", " ", prompts=True)
    assert sent == "pie-tiny. Ctrl-D ends the conversation.\n> Nice to meet you, Anna!\n> > "
    assert result is None


async def test_a_system_message_comes_first():
    sent, _, _ = await talk(question="What is the capital of Norway?", system="Answer in capital letters.")
    assert sent == sent.upper() != ""


async def test_thoughts_stand_between_two_lines_and_are_not_the_answer():
    sent, result, _ = await talk(question="What is 12 plus 30? Think before you answer.")
    assert sent.startswith("Thinking ...\n")
    assert sent.endswith("\n... done thinking.\n\n12 + 30 = 42\n")
    assert result == "12 + 30 = 42"


LONG = "My favourite colour is blue. " + "k3 7z " * 420


async def test_where_the_model_can_read_no_more_the_older_half_is_forgotten():
    sent, _, contexts = await talk(LONG, LONG, pages=512, max_tokens=1)
    assert sent.count(FORGOTTEN) == contexts - 1 == 1


async def test_where_there_are_no_pages_for_more_the_older_half_is_forgotten():
    sent, said, _ = await talk(*["My name is Anna."] * 9, "What is my name?", pages=12)
    assert FORGOTTEN in sent
    assert said == "Your name is Anna."


async def test_a_message_that_does_not_fit_is_said_so_and_the_conversation_goes_on():
    sent, _, _ = await talk(LONG, "My name is Anna.", prompts=True, pages=12)
    assert sent.endswith(f"> {TOO_LONG}> Nice to meet you, Anna!\n> ")


async def test_a_question_that_does_not_fit_is_an_error():
    with pytest.raises(OutOfPagesError):
        await talk(LONG, pages=12)
