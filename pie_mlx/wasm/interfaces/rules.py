"""`pie-mlx:rules/rules`: what programs compute on rows of logits before a token is drawn."""

import struct
from typing import Any

from msgspec.structs import replace

from inferlet._rules.joining import with_end
from pie_mlx import calls
from pie_mlx.calls import RuleUse, SampledTokens, Sampler
from pie_mlx.errors import InvalidArgumentError
from pie_mlx.wasm.interfaces.adapter import Adapter
from pie_mlx.wasm.interfaces.context import Context
from pie_mlx.wasm.interfaces.inference import ForwardPass, FutureOutput, arrived
from pie_mlx.wasm.offers import Interface
from pie_mlx.wasm.reading import as_read

Values = list[tuple[str, tuple[str, Any]]]
"""For each name a number or a vector."""

Drawing = tuple[list[int], list[list[float]], bool, int]
"""Tokens, the states after each, whether the text has ended, and how many of the tokens are in KV."""


class Rule:
    """A rule with its values."""

    def __init__(self, use: RuleUse) -> None:
        self.use = use

    @classmethod
    def create(cls, graph: bytes, values: Values) -> "Rule":
        return cls(_given(RuleUse(graph), values))

    def changed(self, values: Values) -> "Rule":
        return Rule(_given(self.use, values))

    def after(self, states: list[float]) -> "Rule":
        graph = self.use.graph
        if len(states) != len(graph.states):
            raise InvalidArgumentError(
                f"rule {graph.name}: {len(states)} states, it carries {len(graph.states)}",
                hint="pass those of the last token that was drawn",
            )
        return Rule(self.use.after(states))

    def states(self) -> list[tuple[str, float]]:
        return list(self.use.state.items())

    def until(self, end: "Rule") -> "Rule":
        return Rule(with_end(self.use, end.use))

    def broken_at(self, tokens: list[int]) -> "Rule":
        return Rule(self.use.broken_at(tokens))


def _given(use: RuleUse, values: Values) -> RuleUse:
    """With values for these names. Whether they are all that it needs, the engine sees."""
    carried = {name for name, _ in use.graph.states}
    numbers = {name: value for name, (kind, value) in values if kind == "number"}
    vectors = {name: struct.pack(f"<{len(value)}f", *value) for name, (kind, value) in values if kind == "vector"}
    return RuleUse(
        use.code,
        use.parameters | {name: value for name, value in numbers.items() if name not in carried},
        use.state | {name: value for name, value in numbers.items() if name in carried},
        use.vectors | vectors,
    )


def sample(
    forward: ForwardPass,
    indices: list[int],
    sampler: tuple[str, Any],
    rule: Rule,
    options: tuple[int | None, int | None],
) -> None:
    read, (seed, since) = as_read(sampler), options
    if not isinstance(read, Sampler):
        raise InvalidArgumentError(f"rule {rule.use.graph.name}: {sampler[0]} draws no token", hint="use a sampler")
    ruled = replace(read, seed=seed, since=since, rule=rule.use)
    forward.slots += [calls.Slot(index, ruled) for index in indices]


def join(forward: ForwardPass, context: Context, tokens: list[int], adapter: Adapter | None) -> None:
    inputs = calls.OtherContext(context.number, tokens, 0 if adapter is None else adapter.sdk.id)
    forward.others.append((context, inputs))


def up_to(forward: ForwardPass, tokens: int, stop_tokens: list[int]) -> None:
    if tokens < 1:
        raise InvalidArgumentError(f"up-to: {tokens}", hint="a pass draws at least one token")
    forward.further = calls.Continuation(tokens - 1, stop_tokens)


def drawn(output: FutureOutput) -> list[Drawing] | None:
    reply = arrived(output)
    if reply is None:
        return None
    found = [result for result in reply.results if isinstance(result, SampledTokens)]
    return [(each.tokens, each.states, each.ended, reply.kept) for each in found]


INTERFACES = (Interface("pie-mlx:rules/rules", (sample, join, up_to, drawn), (Rule,)),)
