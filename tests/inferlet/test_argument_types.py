"""An argument of a wrong type is refused where it is passed, before anything is sent."""

from collections.abc import Callable
from typing import Any

import pytest

from inferlet import Adapter, Context, Grammar, Model, Sampler, chat, mcp, messaging, runtime, tools
from inferlet.sync import ForwardPass
from pie_mlx.errors import InvalidTypeError
from tests.inferlet.toy_host import ToyHost

WRONG: dict[str, Callable[[Any, Any], Any]] = {
    "Model.load": lambda ctx, model: Model.load(None),
    "Context": lambda ctx, model: Context("toy"),
    "Context.open": lambda ctx, model: Context.open(model, 5),
    "Context.take": lambda ctx, model: Context.take("toy", "a"),
    "Context.delete": lambda ctx, model: Context.delete(model, None),
    "Context.save": lambda ctx, model: ctx.save(5),
    "Context.truncate": lambda ctx, model: ctx.truncate("a"),
    "Context.answer_tool": lambda ctx, model: ctx.answer_tool(5, "x"),
    "Context.set_bid": lambda ctx, model: ctx.set_bid("a"),
    "RawContext.reserve_working_pages": lambda ctx, model: ctx.inner().reserve_working_pages(1.5),
    "RawContext.commit_working_pages": lambda ctx, model: ctx.inner().commit_working_pages("a"),
    "RawContext.release_working_pages": lambda ctx, model: ctx.inner().release_working_pages(None),
    "RawContext.truncate_working_page_tokens": lambda ctx, model: ctx.inner().truncate_working_page_tokens("a"),
    "Adapter.create": lambda ctx, model: Adapter.create("toy", "a"),
    "Adapter.open": lambda ctx, model: Adapter.open("toy", "a"),
    "Grammar.from_regex": lambda ctx, model: Grammar.from_regex(5),
    "Grammar.from_ebnf": lambda ctx, model: Grammar.from_ebnf(None),
    "chat.user": lambda ctx, model: chat.user(model, 5),
    "chat.cue": lambda ctx, model: chat.cue("toy"),
    "chat.Decoder": lambda ctx, model: chat.Decoder("toy"),
    "tools.answer_prefix": lambda ctx, model: tools.answer_prefix(model, 5, "x"),
    "tools.parse_call": lambda ctx, model: tools.parse_call(model, 5),
    "messaging.push": lambda ctx, model: messaging.push(5, "x"),
    "messaging.broadcast": lambda ctx, model: messaging.broadcast(5, "x"),
    "messaging.subscribe": lambda ctx, model: messaging.subscribe(None),
    "runtime.launch": lambda ctx, model: runtime.launch(5),
    "mcp.connect": lambda ctx, model: mcp.connect(5),
    "ForwardPass.input_tokens": lambda ctx, model: ForwardPass(model).input_tokens("ab", [0, 1]),
    "ForwardPass.sampler": lambda ctx, model: ForwardPass(model).sampler(["a"], Sampler.argmax()),
}


@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG)
def test_a_wrong_type_is_refused_before_anything_is_sent(
    call: Callable[[Context, Model], Any], ctx: Context, host: ToyHost
) -> None:
    sent = len(host.log)
    with pytest.raises(InvalidTypeError) as caught:
        call(ctx, ctx.model)
    assert caught.value.hint
    assert len(host.log) == sent
