"""Text that is not Unicode is refused where a program passes it, and nothing is sent."""

from collections.abc import Callable

import pytest

from inferlet import Context, JsonSchema, Model, Regex, chat, session, tools
from pie_mlx.errors import InvalidArgumentError
from tests.inferlet.toy_host import ToyHost

LONE = "a\ud800"
ENTRANCES: dict[str, Callable[[Model, Context], object]] = {
    "encode": lambda model, ctx: model.tokenizer().encode(LONE),
    "save": lambda model, ctx: ctx.save(LONE),
    "system": lambda model, ctx: ctx.system(LONE),
    "user": lambda model, ctx: ctx.user(LONE),
    "assistant": lambda model, ctx: ctx.assistant(LONE),
    "arguments of a call": lambda model, ctx: ctx.assistant("", [("f", LONE)]),
    "tool result": lambda model, ctx: ctx.answer_tool("f", LONE),
    "inside a tool result": lambda model, ctx: ctx.answer_tool("f", {"x": [LONE]}),
    "tool schema": lambda model, ctx: ctx.equip_tools([LONE]),
    "chat.user": lambda model, ctx: chat.user(model, LONE),
    "parse_call": lambda model, ctx: tools.parse_call(model, LONE),
    "session.send": lambda model, ctx: session.send(LONE),
    "regex": lambda model, ctx: Regex(LONE).build_constraint(model),
    "schema": lambda model, ctx: JsonSchema(f'{{"const":"{LONE}"}}').build_constraint(model),
}


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_lone_surrogates_are_refused(host: ToyHost, model: Model, ctx: Context, entrance: str) -> None:  # E2
    sent = len(host.log)
    with pytest.raises(InvalidArgumentError, match="not Unicode"):
        ENTRANCES[entrance](model, ctx)
    assert len(host.log) == sent
