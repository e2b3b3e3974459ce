"""Messages are written into a context in an order that the model understands."""

import json

import msgspec
import pytest

from inferlet import Context, Model, runtime
from pie_mlx.errors import TemplateError
from pie_mlx.runtime.engine import Engine

USER = {"role": "user", "content": "How is it in Oslo, and in Rome?"}


def calling(*calls, arguments="{}"):
    """An assistant that calls tools, each given by its id and name."""
    made = [{"id": call, "function": {"name": name, "arguments": arguments}} for call, name in calls]
    return {"role": "assistant", "tool_calls": made}


def result(call, text, **fields):
    return {"role": "tool", "tool_call_id": call, "content": text, **fields}


@pytest.fixture
def written(openai_module):
    """What the model reads of messages; the Refusal of those it is not given."""
    fields, refusals, terms = map(openai_module, ("fields", "wire", "wire"))
    conversation = openai_module("prompts")

    async def write(*messages):
        read = msgspec.convert(messages, list[fields.Message])

        async def main(input):
            context = Context(Model.load(runtime.models()[0]))
            conversation.write(context, conversation.conversation_of(context.model, read, terms.CHAT), [], terms.CHAT)
            return context.model.tokenizer().decode(context.buffer())

        async with Engine(dummy=True, total_pages=16) as engine:
            return await engine.run(main)

    write.refusal = refusals.Refusal
    return write


ASKED = [USER, calling(("a", "weather"), ("b", "weather"))]


async def test_results_are_told_in_the_order_of_their_calls(written):
    ordered = await written(*ASKED, result("a", "cold"), result("b", "warm"))
    assert ordered.index("cold") < ordered.index("warm")
    assert await written(*ASKED, result("b", "warm"), result("a", "cold")) == ordered


async def test_results_stay_after_the_message_they_follow(written):
    first, second = [*ASKED, result("b", "warm")], [USER, calling(("c", "weather")), result("c", "grey")]
    text = await written(*first, result("a", "cold"), *second)
    assert sorted(["warm", "cold", "grey"], key=text.index) == ["cold", "warm", "grey"]


async def test_an_id_that_comes_again_is_that_of_the_last_call(written):
    again = calling(("x", "weather"), ("a", "time"))
    text = await written(*ASKED, result("a", "cold"), again, result("a", "noon"), result("x", "grey"))
    assert sorted(["cold", "noon", "grey"], key=text.index) == ["cold", "grey", "noon"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (result("c", "dry"), "no message before this one makes the tool call 'c': give the id of the call it answers"),
        (
            result("b", "dry", name="time"),
            "the tool call 'b' is one of 'weather', not of 'time': leave the name out",
        ),
    ],
)
async def test_a_result_of_no_call_is_refused(written, wrong, message):
    with pytest.raises(written.refusal) as refused:
        await written(*ASKED, result("a", "cold"), wrong)
    assert str(refused.value) == message
    assert refused.value.param == f"messages[3].{'name' if 'name' in wrong else 'tool_call_id'}"


@pytest.mark.parametrize("arguments", ['{"city": "Os', "Oslo", '["Oslo"]', "[" * 2000])
async def test_arguments_that_were_cut_short_are_taken_back_as_a_text(written, arguments):
    text = await written(USER, calling(("a", "weather"), arguments=arguments), result("a", "not JSON"))
    assert json.dumps({"arguments": arguments}) in text


async def test_a_call_without_arguments_is_taken_back(written):
    assert "weather" in await written(USER, calling(("a", "weather"), arguments=""), result("a", "cold"))


def test_what_has_no_place_as_a_system_message_is_said_by_the_user(openai_module, monkeypatch):
    class Strict:
        """A context whose template takes a system message first only."""

        def __init__(self):
            self.turns, self.model = [], None

        def system(self, text):
            if self.turns:
                raise TemplateError("no place for a system message after the first turn")
            self.turns.append(("system", text))

        def user(self, text):
            self.turns.append(("user", text))

        def buffer(self):
            return []

        def cue(self):
            self.turns.append(("cue", ""))

    context, fields = Strict(), openai_module("fields")
    read = msgspec.convert(
        [{"role": "system", "content": text} for text in ("Be kind.", "Be brief.")], list[fields.Message]
    )
    monkeypatch.setattr(openai_module("prompts"), "check_fits", lambda *arguments: None)
    prompts, terms = openai_module("prompts"), openai_module("wire").CHAT
    prompts.write(context, prompts.conversation_of(None, read, terms), [], terms)
    assert context.turns == [("system", "Be kind."), ("user", "Be brief."), ("cue", "")]
