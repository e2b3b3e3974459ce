"""The conversation that comes with the engine."""

from pie_mlx.events import ContextCreated
from pie_mlx.runtime.daemon import builtin_program
from pie_mlx.runtime.embedding import Engine

GREEDY = {"temperature": 0.0, "max_tokens": 64}


async def talk(*says, **given):
    """Play a conversation: what was sent, what was returned, and how many contexts there were."""
    sent, events = [], []
    async with Engine("pie-tiny", total_pages=128, on_event=events.append) as engine:
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
    assert (sent, result) == ("> Nice to meet you, Anna!\n> > ", None)


async def test_a_system_message_comes_first():
    sent, _, _ = await talk(question="What is the capital of Norway?", system="Answer in capital letters.")
    assert sent == sent.upper() != ""


async def test_thoughts_stand_between_two_lines_and_are_not_the_answer():
    sent, result, _ = await talk(question="What is 12 plus 30? Think before you answer.")
    assert sent.startswith("Thinking ...\n")
    assert sent.endswith("\n... done thinking.\n\n12 + 30 = 42\n")
    assert result == "12 + 30 = 42"
