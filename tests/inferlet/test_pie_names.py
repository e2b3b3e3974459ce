"""Names and keywords of Pie's own Python SDK."""

import inspect
from typing import Any

import pytest

from inferlet import (
    Context,
    Distribution,
    Entropy,
    Grammar,
    GrammarConstraint,
    HiddenState,
    Logits,
    Logprob,
    Logprobs,
    Matcher,
    Model,
    Sampler,
    chat,
    generator,
    mcp,
    tools,
    zo,
)
from inferlet import sync as blocking
from pie_mlx import calls
from tests.inferlet.toy_host import ToyHost
from tests.inferlet.toy_language import encode

KEYWORDS: dict[Any, tuple[str, ...]] = {
    Context.system: ("message",),
    Context.user: ("message",),
    Context.assistant: ("message",),
    blocking.Context.user: ("message",),
    chat.system: ("model", "message"),
    chat.user: ("model", "message"),
    chat.assistant: ("model", "message"),
    tools.equip_prefix: ("model", "tools"),
    tools.native_matcher: ("model", "tools"),
    tools.answer_prefix: ("model", "name", "value"),
    Grammar.from_ebnf: ("ebnf",),
    GrammarConstraint.from_ebnf: ("ebnf", "model"),
    Matcher.accept_tokens: ("token_ids",),
    mcp.connect: ("server_name",),
    zo.adapter_seed: ("forward", "seed"),
    blocking.zo.adapter_seed: ("forward", "seed"),
    generator.Generator.rebid_each_step: ("enabled",),
}


@pytest.mark.parametrize("function", KEYWORDS, ids=lambda function: function.__qualname__)
def test_keywords_are_those_of_pie(function: Any) -> None:
    names = inspect.signature(function).parameters
    assert [name for name in KEYWORDS[function] if name not in names] == []


def test_a_probe_of_tokens_names_them() -> None:
    assert (Logprob(3).token, Logprobs([3, 4]).tokens) == (3, (3, 4))


async def test_handles_name_their_results_in_the_reply(ctx: Context) -> None:
    forward = ctx.forward().input(encode("abc"))
    first, probe = forward.sample([0, 2], Sampler.argmax()), forward.probe(1, Entropy())
    assert (first.slot, first.arity, probe.slot, probe.kind) == (0, 2, 2, "entropy")
    out = await forward.execute()
    assert out.raw is not None
    assert out.entropy(probe) == out.raw.results[probe.slot].nats  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("probe", "kind"),
    [
        (Logits(), "logits"),
        (Distribution(1.0, 3), "distribution"),
        (Logprob(3), "logprobs"),
        (Logprobs([3]), "logprobs"),
        (HiddenState(), "hidden_state"),
    ],
)
def test_the_handle_of_a_probe_names_the_accessor(ctx: Context, probe: Any, kind: str) -> None:
    assert ctx.forward().input(encode("a")).probe(0, probe).kind == kind


async def test_a_generator_stops_asking_for_drafts(ctx: Context, host: ToyHost) -> None:
    made = ctx.user("x").generate(Sampler.argmax(), max_tokens=2, system_speculation=True)
    await made.disable_system_speculation().collect_tokens()
    assert [sent.speculation for sent in host.sent(calls.Forward)] == [None, None]


async def test_a_generator_stops_renewing_its_bid(ctx: Context, host: ToyHost) -> None:
    made = ctx.user("x").generate(Sampler.argmax(), max_tokens=3).rebid_each_step(False)
    async for step in made:
        await step.execute()
    assert [sent.horizon for sent in host.sent(calls.Forward)[1:]] == [None, None]


def test_default_system_speculation_is_false(model: Model) -> None:
    assert model.default_system_speculation() is False


async def test_the_noise_of_a_pass_is_set_from_outside(ctx: Context, host: ToyHost) -> None:
    forward = ctx.forward().input(encode("a"))
    zo.adapter_seed(forward, 7)
    await forward.execute()
    assert [sent.zo_seed for sent in host.sent(calls.Forward)] == [7]
