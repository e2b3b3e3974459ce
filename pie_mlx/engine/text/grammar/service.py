"""Compiles grammars for one model and starts matchers on them."""

import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import msgspec

from pie_mlx.calls import GrammarSource
from pie_mlx.engine.text.grammar.ahead import MasksAhead
from pie_mlx.engine.text.grammar.base import Matcher, Walk
from pie_mlx.engine.text.grammar.cache import CompileCache
from pie_mlx.engine.text.grammar.deadline import Deadline
from pie_mlx.engine.text.grammar.dialect import dialect_of, prepare_lark
from pie_mlx.engine.text.grammar.foresight import Foresight
from pie_mlx.engine.text.grammar.gbnf import gbnf_to_lark
from pie_mlx.engine.text.grammar.json_schema.as_defined import as_defined, with_references_alone
from pie_mlx.engine.text.grammar.json_schema.endless import check_endings
from pie_mlx.engine.text.grammar.json_schema.formats import annotated_formats, with_exact_formats
from pie_mlx.engine.text.grammar.json_schema.idle import without_idle
from pie_mlx.engine.text.grammar.json_schema.keywords import in_engine_keywords
from pie_mlx.engine.text.grammar.json_schema.locate import keyword_paths, locate
from pie_mlx.engine.text.grammar.json_schema.numbers import rounded_numbers, without_rounded_numbers
from pie_mlx.engine.text.grammar.json_schema.schema import Schema, close_objects, read_schema
from pie_mlx.engine.text.grammar.json_schema.spellings import with_every_spelling
from pie_mlx.engine.text.grammar.json_schema.unsafe import check_rules, check_safe
from pie_mlx.engine.text.grammar.llguidance_engine import Engines, LlguidanceEngine
from pie_mlx.engine.text.grammar.refusals import (
    refuse_formats,
    refuse_grammar,
    refuse_regex,
    refuse_schema,
    refuse_separators,
    refuse_translation,
)
from pie_mlx.engine.text.grammar.thought import Thoughts
from pie_mlx.engine.text.grammar.thought_limit import Limit, LimitedWalk
from pie_mlx.engine.text.grammar.unique_items.places import without_unique_items
from pie_mlx.engine.text.tokens.tokenizer import Tokenizer
from pie_mlx.errors import GrammarError

CACHE_CHARACTERS = 4_000_000
"""Source text kept compiled; what is compiled from it is a small multiple of that."""
_OVERHEAD_CHARACTERS = 4_000
_MAXIMUM_CHARACTERS = 2_000_000
_STOP_SETS = 8
_COMPILE_SECONDS = 30.0
_CIRCULAR = "circular references with sibling keys"
_COMPILING_AT_ONCE = 8
_LONGEST_SEPARATOR = 64


class ToolGrammars(Protocol):
    """The native tool calls of a model, as grammars."""

    def compile(self, schemas: Sequence[str], engines: Engines) -> Walk | None:
        """None for a model whose calls cannot be enforced (D7). Raises GrammarError, InvalidArgumentError."""
        ...


@dataclass(slots=True)
class Compiled:
    """A grammar as it came from an engine. `first` never moves; it is forked, under `lock`."""

    first: Matcher
    lock: threading.Lock = field(default_factory=threading.Lock)

    def start(self) -> Matcher:
        with self.lock:
            return self.first.fork()


class GrammarService:
    """Safe to use from any thread. `stop_tokens` are the model's own; `tools` is None for a model without tools.
    `marks` are tokens that its decoders know by their ids, and not by their text.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        vocabulary_size: int,
        stop_tokens: Sequence[int],
        tools: ToolGrammars | None = None,
        *,
        marks: Collection[int] = (),
        compile_seconds: float = _COMPILE_SECONDS,
    ) -> None:
        self._tokenizer = tokenizer
        self._vocabulary_size = vocabulary_size
        self._stop_tokens = tuple(stop_tokens)
        self._tools = tools
        self._marks = marks
        self.ahead, self.foresight = MasksAhead(), Foresight(tokenizer)
        self.thoughts = Thoughts(tokenizer.bytes_by_id.tokens, vocabulary_size, marks)
        self._deadline = Deadline(compile_seconds, _COMPILING_AT_ONCE)
        self._engines = CompileCache[Engines](_STOP_SETS)
        self._compiled = CompileCache["Compiled | None"](CACHE_CHARACTERS)

    def compile(self, source: GrammarSource, stop_tokens: Sequence[int] = (), behind: str = "") -> Matcher | None:
        """A fresh matcher, which begins `behind` that text; None for tools of a model whose calls cannot be enforced
        (D7).

        May take seconds, without holding the interpreter lock: call it off the engine's loop. No `stop_tokens` means
        the model's own. Raises GrammarError for a grammar that does not compile, cannot be enforced, allows nothing or
        takes longer than `compile_seconds`.
        """
        stops = self._stops(stop_tokens)
        size = len(source.text) + sum(map(len, source.schemas))
        if size > _MAXIMUM_CHARACTERS:
            raise GrammarError(
                f"grammar: {size} characters, at most {_MAXIMUM_CHARACTERS} are compiled", hint="make it smaller"
            )
        key = (stops, msgspec.json.encode(source))
        # Masks that are prepared take bytes per token of the vocabulary.
        cost = size + _OVERHEAD_CHARACTERS + self._vocabulary_size // 4
        return self._start(self._compiled.get(key, cost, lambda: self._compile_in_time(source, stops)), behind)

    def compiled(self, source: GrammarSource, stop_tokens: Sequence[int] = (), behind: str = "") -> Matcher | None:
        """A fresh matcher of a grammar that has been compiled, at once; None of any other."""
        if behind and not self.thoughts.knows(behind):
            return None
        return self._start(self._compiled.peek((self._stops(stop_tokens), msgspec.json.encode(source))), behind)

    def _start(self, compiled: "Compiled | None", behind: str) -> Matcher | None:
        if compiled is None:
            return None
        matcher = compiled.start()
        return self.thoughts.before(matcher, behind) if behind else matcher

    def _stops(self, stop_tokens: Sequence[int]) -> tuple[int, ...]:
        return tuple(sorted({*stop_tokens})) or self._stop_tokens

    def _compile_in_time(self, source: GrammarSource, stops: Sequence[int]) -> "Compiled | None":
        done = self._deadline.run(lambda: (self._compile(source, stops),))
        if done is None:
            raise GrammarError(
                f"grammar: does not compile in {self._deadline.seconds:g} seconds",
                hint="make it smaller: fewer alternatives, shorter repetitions",
            )
        return done[0]

    def _compile(self, source: GrammarSource, stops: Sequence[int]) -> Compiled | None:
        engines = self._engines.get(stops, 1, lambda: Engines(self._tokenizer, self._vocabulary_size, stops))
        warnings: list[str] = []
        match source.kind:
            case "json":
                walk, warnings = engines.llguidance("user").compile_schema({})
            case "json_schema":
                walk, warnings = _compile_schema(source, engines)
            case "regex":
                walk = _translated(
                    lambda: engines.llguidance("user").compile_regex(source.text),
                    lambda message: refuse_regex(source.text, message),
                )
            case "ebnf":
                walk = _compile_ebnf(source.text, source.root, engines.llguidance("user"))
            case "tools":
                walk = self._tools.compile(source.schemas, engines) if self._tools else None
            case "thought":
                walk, stops = self._limited(source), ()
        if walk is None:
            return None
        first = Matcher(walk, stops, self._vocabulary_size, warnings)
        # All forks begin with this mask. Where not even a first token is allowed, it raises.
        first.packed_mask()
        return Compiled(first)

    def _limited(self, source: GrammarSource) -> Walk:
        if source.limit is None:
            raise GrammarError("thought: no limit", hint="give the tokens that it may take, and its delimiters")
        tokens = self._tokenizer.bytes_by_id.tokens
        return LimitedWalk(Limit(source.limit, tokens, self._vocabulary_size, self._marks))


def _translated(compile_: Callable[[], Walk], refuse: Callable[[str], GrammarError]) -> Walk:
    try:
        return compile_()
    except GrammarError as error:
        raise refuse(error.message) from error


def _compile_schema(source: GrammarSource, engines: Engines) -> tuple[Walk, list[str]]:
    _check_separators(source.separators)
    written = read_schema(source.text)
    rounded = rounded_numbers(written)
    if rounded and not source.lenient:
        raise refuse_schema(rounded)
    exact = without_idle(without_rounded_numbers(written))
    if source.known_formats and (unknown := annotated_formats(exact)):
        raise refuse_formats(unknown)
    check_safe(exact)
    schema: Schema = close_objects(with_exact_formats(exact)) if source.strict else as_defined(exact)
    check_endings(schema)
    engine = engines.llguidance("user")
    schema = in_engine_keywords(schema, engine.allows_no_value)
    annotations = [f"{place}: {reason}" for place, reason in rounded]
    formats = annotated_formats(exact) if source.strict else keyword_paths(exact, "format")
    annotations += [f"{place}: is an annotation" for place in formats]
    plain = without_unique_items(schema)
    refusal = engine.schema_error(plain)
    if _CIRCULAR in refusal and (alone := with_references_alone(schema)) != schema:
        schema, plain = alone, without_unique_items(alone)
        refusal = engine.schema_error(plain)
    if not refusal:
        spelled, kept = _spelled(source, schema, engine)
        walk, warnings = engine.compile_schema(spelled, separators=source.separators)
        return walk, [*annotations, *kept, *warnings]
    places = locate(plain, refusal, engine.schema_error)
    if not source.lenient:
        raise refuse_schema(places)
    walk, warnings = _compile_leniently(engine, schema, places, source.separators)
    return walk, [*annotations, *warnings]


def _check_separators(separators: tuple[str, str] | None) -> None:
    """Raises GrammarError for separators that JSON does not have, or that are unreasonably long."""
    if separators is None:
        return
    bare = [one.strip(" \t\n\r") for one in separators]
    if bare != [",", ":"] or any(len(one) > _LONGEST_SEPARATOR for one in separators):
        raise refuse_separators(separators)


def _spelled(source: GrammarSource, schema: Schema, engine: LlguidanceEngine) -> tuple[Schema, list[str]]:
    """The schema in the spellings asked for, and what of them is not to be had."""
    if not source.every_spelling:
        return schema, []
    spelled = with_every_spelling(schema)
    if spelled is None or engine.schema_error(without_unique_items(spelled)):
        return schema, ["$: allows one spelling of its values: their alternatives are too many or cannot be told apart"]
    return spelled, []


def _compile_leniently(
    engine: LlguidanceEngine, schema: Schema, places: list[tuple[str, str]], separators: tuple[str, str] | None
) -> tuple[Walk, list[str]]:
    try:
        walk, warnings = engine.compile_schema(schema, lenient=True, separators=separators)
    except GrammarError:
        raise refuse_schema(places) from None
    named = [f"{place}: {' '.join(reason.split())}" for place, reason in places]
    return walk, [*named, *(warning for warning in warnings if "Unimplemented keys" not in warning)]


def _compile_ebnf(text: str, root: str, engine: LlguidanceEngine) -> Walk:
    check_rules(text)
    if dialect_of(text) == "lark":
        return _translated(lambda: engine.compile_lark(prepare_lark(text, root)), refuse_grammar)
    lark = gbnf_to_lark(text, engine.allows_nothing, root or "root")
    return _translated(lambda: engine.compile_lark(lark), refuse_translation)
