"""`pie:core/inference`: passes, and the grammars that restrict them."""

from functools import partial
from typing import Any

from inferlet import grammar as sdk_grammar
from inferlet import matcher as sdk_matcher
from pie_mlx import calls
from pie_mlx.calls import Brle
from pie_mlx.errors import InvalidArgumentError
from pie_mlx.wasm.interfaces.adapter import Adapter
from pie_mlx.wasm.interfaces.context import Context
from pie_mlx.wasm.interfaces.model import Model, Tokenizer, known_model
from pie_mlx.wasm.offers import Interface
from pie_mlx.wasm.reading import as_read, as_slots
from pie_mlx.wasm.waiting import Eventually
from pie_mlx.wasm.wasi.poll import Pollable

Output = tuple[list[tuple[str, Any]], list[int], list[int]]
"""The slots' results; drafts and their positions, of which the engine tells none."""


class FutureOutput:
    """The outcome of a pass. `get` raises what made the pass fail, which ends the component."""

    def __init__(self, contexts: list[Context], request: calls.Forward) -> None:
        self.contexts = contexts
        self.reply = Eventually(partial(contexts[0].host.submit, request))

    def pollable(self) -> Pollable:
        return Pollable(self.reply.pending)

    def get(self) -> Output | None:
        reply = arrived(self)
        if reply is None:
            return None
        return [slot for result in reply.results for slot in as_slots(result)], [], []


def arrived(output: FutureOutput) -> calls.ForwardReply | None:
    """The reply of a pass if it is there; its contexts then have the counters. Raises what made the pass fail."""
    reply = output.reply.now()
    if reply is not None:
        contexts, output.contexts = output.contexts, []
        for context, counters in zip(contexts, [reply.counters, *reply.others], strict=False):
            context.counters = counters
    return reply


class ForwardPass:
    """A pass that is being put together."""

    def __init__(self, model: Model) -> None:
        self._context: Context | None = None
        self._tokens: list[int] = []
        self._positions: list[int] = []
        self.slots: list[calls.Slot] = []
        self.others: list[tuple[Context, calls.OtherContext]] = []
        self.further: calls.Continuation | None = None
        self._attention: list[Brle] | None = None
        self._mask: Brle = []
        self._adapter: Adapter | None = None
        self.seed = 0

    def context(self, context: Context) -> None:
        self._context = context

    def input_tokens(self, tokens: list[int], positions: list[int]) -> None:
        if len(tokens) != len(positions):
            raise InvalidArgumentError(
                f"input-tokens: {len(tokens)} tokens at {len(positions)} positions", hint="give each token its position"
            )
        self._tokens += tokens
        self._positions += positions

    def input_image(self, image: object, anchor: int) -> None:
        raise _unsupported("images")

    def input_audio(self, audio: object, anchor: int) -> None:
        raise _unsupported("audio")

    def input_speculative_tokens(self, tokens: list[int], positions: list[int]) -> None:
        if tokens:
            raise _unsupported("drafts of the component in this form")

    def output_speculative_tokens(self, flag: bool) -> None:
        """The engine offers no drafts: an output has none."""

    def pass_speculation(self, flag: bool) -> None:
        """As above."""

    def attention_mask(self, mask: list[Brle]) -> None:
        self._attention = mask

    def logit_mask(self, mask: Brle) -> None:
        self._mask = mask

    def sampler(self, indices: list[int], sampler: tuple[str, Any]) -> None:
        read = as_read(sampler)
        self.slots += [calls.Slot(index, read) for index in indices]

    def adapter(self, adapter: Adapter) -> None:
        self._adapter = adapter

    def execute(self) -> FutureOutput:
        context = self._context
        if context is None:
            raise InvalidArgumentError("execute: the pass has no context", hint="call context(...) before")
        in_one_call = bool(self.others) or self.further is not None
        request = calls.Forward(
            context.number,
            self._tokens,
            positions=None if self._is_sequential(context) else self._positions,
            attention_masks=self._attention,
            slots=self.slots,
            logit_mask=self._mask,
            reserve=in_one_call,
            commit=in_one_call,
            continuation=self.further,
            adapter=0 if self._adapter is None else self._adapter.sdk.id,
            zo_seed=self.seed,
            others=[inputs for _, inputs in self.others],
        )
        return FutureOutput([context, *(other for other, _ in self.others)], request)

    def _is_sequential(self, context: Context) -> bool:
        """Whether each token's position is its slot: only then can cached pages serve the pass."""
        first = context.counters.sequence_length(context.tokens_per_page())
        return self._positions == list(range(first, first + len(self._positions)))


class Grammar:
    """A grammar that knows no model."""

    def __init__(self, grammar: sdk_grammar.Grammar) -> None:
        self.sdk = grammar

    @classmethod
    def from_json_schema(cls, schema: str) -> "Grammar":
        return _checked(sdk_grammar.Grammar.from_json_schema(schema))

    @classmethod
    def json(cls) -> "Grammar":
        return cls(sdk_grammar.Grammar.json())

    @classmethod
    def from_regex(cls, pattern: str) -> "Grammar":
        return _checked(sdk_grammar.Grammar.from_regex(pattern))

    @classmethod
    def from_ebnf(cls, ebnf: str) -> "Grammar":
        return _checked(sdk_grammar.Grammar.from_ebnf(ebnf))

    def to_string(self) -> str:
        return self.sdk.source.text or self.sdk.source.kind


class Matcher:
    """What a grammar allows next."""

    def __init__(self, grammar: Grammar, tokenizer: Tokenizer) -> None:
        self._matcher = sdk_matcher.Matcher(grammar.sdk, tokenizer.sdk)

    def accept_tokens(self, tokens: list[int]) -> None:
        self._matcher.accept_tokens(tokens)

    def next_token_logit_mask(self) -> Brle:
        return self._matcher.next_token_logit_mask()

    def is_terminated(self) -> bool:
        return self._matcher.is_terminated

    def reset(self) -> None:
        self._matcher.reset()


def _unsupported(what: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"component: {what}: this engine takes none", hint="pass tokens")


def _checked(grammar: sdk_grammar.Grammar) -> Grammar:
    """The constructor of a matcher cannot report errors. The engine copies what is compiled here for it."""
    sdk_matcher.Matcher(grammar, known_model().sdk.tokenizer())
    return Grammar(grammar)


INTERFACES = (
    Interface(
        "pie:core/inference", (), (ForwardPass, FutureOutput, Grammar, Matcher), constructed=(ForwardPass, Matcher)
    ),
)
