"""The conversation that comes with the engine."""

import pytest

from pie_mlx.errors import OutOfPagesError
from pie_mlx.events import ContextCreated
from pie_mlx.runtime.daemon import builtin_program
from pie_mlx.runtime.engine import Engine

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


async def converse(*says, interruption=None, **given):
    """Take turns with it: what it sent first and after each turn. `interruption` is said as soon as it answers."""
    sent, left = [""], list(says)

    def hear(message):
        if isinstance(message, str):
            sent[-1] += message
            if interruption is not None and len(sent) == 2:
                process.send(interruption)
            return
        assert message == {"turn": "yours"}
        sent.append("")
        if left:
            process.send(left.pop(0))
        else:
            process.close_session()

    options = {"total_pages": 128, "dummy": False} | given.pop("engine", {})
    async with Engine("pie-tiny", **options) as engine:
        program, value = builtin_program("chat"), {**GREEDY, **given, "interactive": True}
        process = await engine.launch(program, value, on_message=hear)
        assert await process.result() is None
    return sent


GREETING = "pie-tiny. Ctrl-D ends the conversation, /? lists the commands.\n"


async def test_somebody_at_a_terminal_is_told_when_it_is_their_turn():
    assert await converse("My name is Anna.", "What is my name?") == [
        GREETING,
        "Nice to meet you, Anna!\n",
        "Your name is Anna.\n",
        "",
    ]


RANDOM = {"dummy": True, "seed": 1}


async def test_somebody_at_a_terminal_may_stop_an_answer():
    whole = await converse("Tell me more.", max_tokens=500, engine=RANDOM)
    stopped = await converse("Tell me more.", max_tokens=500, engine=RANDOM, interruption="")
    assert len(stopped) == len(whole) == 3
    assert 0 < len(stopped[1]) < len(whole[1]) / 2


async def test_what_is_said_during_an_answer_is_the_next_turn():
    _, _, said, *_ = await converse("Who are you?", "unsaid", interruption="/?")
    assert "/clear" in said


async def test_a_conversation_is_forgotten_at_a_word():
    *_, answer, _ = await converse("My name is Anna.", "/clear", "What is my name?")
    assert "Anna" not in answer


@pytest.mark.parametrize("word", ["/bye", "/exit", "/quit"])
async def test_a_conversation_ends_at_a_word(word):
    assert await converse(word, "My name is Anna.") == [GREETING, ""]


@pytest.mark.parametrize("typed", ["/set", "/set temperature 1"])
async def test_a_command_that_is_not_there_is_no_question_for_the_model(typed):
    assert await converse(typed) == [GREETING, "(There is no /set: /? lists the commands.)\n", ""]


async def test_a_path_is_no_command():
    _, answer, _ = await converse("/etc/passwd")
    assert "/?" not in answer


async def test_a_system_message_comes_first():
    sent, _, _ = await talk(question="What is the capital of Norway?", system="Answer in capital letters.")
    assert sent == sent.upper() != ""


async def test_thoughts_stand_between_two_lines_and_are_not_the_answer():
    sent, result, _ = await talk(question="What is 12 plus 30? Think before you answer.")
    assert sent.startswith("Thinking ...\n")
    assert sent.endswith("\n... done thinking.\n\n12 + 30 = 42\n")
    assert result == "12 + 30 = 42"


async def test_a_thought_is_no_longer_than_it_may_be():
    question = "What is 12 plus 30? Think before you answer."
    whole, _, _ = await talk(question=question)
    sent, result, _ = await talk(question=question, think=2)
    (thought, _), (unlimited, _) = (text.split("\n... done thinking.\n\n") for text in (sent, whole))
    assert unlimited.startswith(thought)
    assert len(thought) < len(unlimited)
    assert result


LONG = "My favourite colour is blue. " + "k3 7z " * 420


async def test_where_the_model_can_read_no_more_the_older_half_is_forgotten():
    sent, _, contexts = await talk(LONG, LONG, pages=512, max_tokens=1)
    assert sent.count(FORGOTTEN) == contexts - 1 == 1


async def test_where_there_are_no_pages_for_more_the_older_half_is_forgotten():
    sent, said, _ = await talk(*["My name is Anna."] * 9, "What is my name?", pages=12)
    assert FORGOTTEN in sent
    assert said == "Your name is Anna."


async def test_what_is_forgotten_for_one_answer_is_said_once():
    sent, _, contexts = await talk(*["My name is Anna."] * 4, LONG[:175], pages=12, max_tokens=4)
    assert contexts > 2
    assert sent.count(FORGOTTEN) == 1


async def test_a_message_that_does_not_fit_is_said_so_and_the_conversation_goes_on():
    _, refused, answer, _ = await converse(LONG, "My name is Anna.", engine={"total_pages": 12})
    assert (refused, answer) == (TOO_LONG, "Nice to meet you, Anna!\n")


async def test_a_question_that_does_not_fit_is_an_error():
    with pytest.raises(OutOfPagesError):
        await talk(LONG, pages=12)
