"""What each kind of grammar allows, and what is refused with which words."""

import json
import threading
from collections.abc import Callable
from typing import Literal

import pytest
import tokenizers
from tokenizers import decoders, models
from transformers import PreTrainedTokenizerFast

from pie_mlx.calls import GrammarSource
from pie_mlx.engine.text.grammar import GrammarService
from pie_mlx.engine.text.grammar.deadline import Deadline
from pie_mlx.engine.text.tokens.tokenizer import Tokenizer
from pie_mlx.errors import GrammarError

from .conftest import Language

PERSON = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def test_json_is_any_value(language: Language) -> None:
    matcher = language.compile("json")
    for text in ('{"a": [1, 2.5e3, null]}', "true", '"é🙂"', "[]", "-1"):
        assert language.accepts(matcher, text), text
    for text in ("{a: 1}", "[1,]", "tru", "", "'a'"):
        assert not language.accepts(matcher, text), text


def test_a_schema_is_obeyed(language: Language) -> None:
    matcher = language.compile("json_schema", json.dumps(PERSON))
    assert language.accepts(matcher, '{"name": "Ann"}')
    assert not language.accepts(matcher, '{"name": 1}')
    assert not language.accepts(matcher, "{}")


def test_objects_that_declare_properties_are_closed(language: Language) -> None:  # G13
    extra = '{"name":"Ann","age":3}'
    assert not language.accepts(language.compile("json_schema", json.dumps(PERSON)), extra)
    assert language.accepts(language.compile("json_schema", json.dumps(PERSON), strict=False), extra)


def test_a_recursive_schema_compiles(language: Language) -> None:
    tree = {"$defs": {"t": {"type": "object", "properties": {"c": {"type": "array", "items": {"$ref": "#/$defs/t"}}}}}}
    matcher = language.compile("json_schema", json.dumps({**tree, "$ref": "#/$defs/t"}))
    assert language.accepts(matcher, '{"c": [{"c": []}, {}]}')
    assert not language.accepts(matcher, '{"d": 1}')


def test_a_large_schema_compiles(language: Language) -> None:
    properties = {f"property_{i:04}": {"type": "string", "description": "x" * 100} for i in range(1200)}
    text = json.dumps({"type": "object", "properties": properties})
    assert len(text) > 150_000
    assert language.accepts(language.compile("json_schema", text), '{"property_0007":"a","property_1100":"b"}')


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({"type": "object", "properties": {"a": {"not": {"pattern": r"\ba"}}}}, r"\$\.properties\.a\.not"),
        ({"items": {"contains": {}}}, r"\$\.items\.contains"),
        ({"anyOf": [{}, {"if": {"pattern": r"\ba"}, "then": {}}]}, r"\$\.anyOf\[1\]\.if"),
        ({"properties": {"two words": {"contains": {}}}}, r'\$\.properties\["two words"\]\.contains'),
        ({"$defs": {"d": {"type": "oops"}}, "properties": {"p": {"$ref": "#/$defs/d"}}}, r"\$\.\$defs\.d: Invalid"),
        ({"type": "object", "properties": {"a": {"enum": []}}, "required": ["a"]}, r"\$: Unsat.* 'a'"),
        ({"properties": {"a": {"$ref": "#/$defs/no"}}, "required": ["a"]}, r"\$\.properties\.a"),
        ({"properties": {"a": {"$ref": "https://example.org/s"}}, "required": ["a"]}, r"\$\.properties\.a"),
        ({"properties": {"a": {"type": "string", "pattern": "(?<=x)"}}}, r"\$\.properties\.a: .* column 1 of .*look"),
        ({"type": "integer", "minimum": 10**20, "maximum": 10**20 + 5}, r"\$\.minimum: .*; \$\.maximum: .*exact"),
        ({"items": {"type": "integer", "minimum": 10**18}}, r"\$\.items: a bound is too large for a range of integer"),
    ],
)
def test_what_cannot_be_enforced_is_refused_with_its_path(language: Language, schema: dict, place: str) -> None:
    with pytest.raises(GrammarError, match=place) as refused:
        language.compile("json_schema", json.dumps(schema))
    assert refused.value.hint


@pytest.mark.parametrize("text", ["{", "[1]", "3", '"x"', "[" * 5000 + "]" * 5000])
def test_text_that_is_no_schema_is_refused(language: Language, text: str) -> None:
    with pytest.raises(GrammarError, match="schema"):
        language.compile("json_schema", text)


@pytest.mark.parametrize(
    ("number", "words"), [("NaN", "NaN is not"), ("-Infinity", "Infinity is not"), ("1e999", "1e999 is too large")]
)
def test_a_schema_with_a_number_that_is_none_is_refused_naming_it(language: Language, number: str, words: str) -> None:
    for text in (f'{{"const": {number}}}', f'{{"type": "string", "default": {number}}}', f'{{"maximum": {number}}}'):
        with pytest.raises(GrammarError, match=words):
            language.compile("json_schema", text)


def test_a_schema_nested_too_deeply_is_refused(language: Language) -> None:
    text = '{"items":' * 300 + "{}" + "}" * 300
    with pytest.raises(GrammarError, match="nested"):
        language.compile("json_schema", text)


@pytest.mark.parametrize("number", ["-1e19", "-9223372036854775808", "-9223372036854775808.0", "1e20"])
def test_constants_that_would_end_the_process_are_refused(language: Language, number: str) -> None:  # G13
    fatal = f'{{"type": "integer", "const": {number}}}'
    hidden = f'{{"$ref": "#/x/y", "x": {{"y": {fatal}}}}}'
    for kind, text in (("json_schema", fatal), ("json_schema", hidden), ("ebnf", f"start: %json {fatal}")):
        with pytest.raises(GrammarError, match="too large to be exact"):
            language.compile(kind, text)


@pytest.fixture(scope="module")
def few_letters() -> GrammarService:
    """Grammars over a vocabulary of a, b, the quotation mark and the first byte of é."""
    backend = tokenizers.Tokenizer(models.BPE({letter: place for place, letter in enumerate('ab"Ã')}, []))
    backend.decoder = decoders.ByteLevel()
    tokenizer = Tokenizer(PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="<end>"))
    return GrammarService(tokenizer, tokenizer.size, tokenizer.eos_ids)


@pytest.mark.parametrize(
    ("forced", "spelled"), [("a9", [2, 0]), ("a日", [2, 0]), ("aé", [2, 0, 3]), ("ab", [2, 0, 1, 2])]
)
@pytest.mark.parametrize(("kind", "source"), [("json_schema", '{{"const": "{}"}}'), ("regex", '"{}"')])
def test_a_character_that_no_token_spells_is_refused_where_it_must_come(
    few_letters: GrammarService, kind: Literal["json_schema", "regex"], source: str, forced: str, spelled: list[int]
) -> None:
    matcher = few_letters.compile(GrammarSource(kind, source.format(forced)))
    assert matcher is not None
    matcher.accept(spelled)
    if forced == "ab":
        assert matcher.is_terminated
        return
    with pytest.raises(GrammarError, match="the vocabulary can spell"):
        matcher.packed_mask()


def chain(length: int) -> str:
    definitions = {f"d{i}": {"$ref": f"#/$defs/d{i + 1}"} for i in range(length)}
    return json.dumps({"$defs": {**definitions, f"d{length}": {"const": "x"}}, "$ref": "#/$defs/d0"})


def test_a_long_chain_of_references_compiles(language: Language) -> None:
    assert language.accepts(language.compile("json_schema", chain(6_000)), '"x"')


def test_a_chain_of_references_that_no_stack_holds_is_refused(language: Language) -> None:
    for text in (chain(25_000), f"start: %json {chain(25_000)}"):
        with pytest.raises(GrammarError, match="levels deep"):
            language.compile("json_schema" if text.startswith("{") else "ebnf", text)


@pytest.mark.parametrize(("start", "names"), [("start", ": "), ("root", " ::= ")])
def test_a_chain_of_rules_that_no_stack_holds_is_refused(language: Language, start: str, names: str) -> None:
    def rules(count: int) -> str:
        chain = [f"{start}{names}r0", *(f"r{i}{names}r{i + 1}" for i in range(count)), f'r{count}{names}"a"']
        return "\n".join(chain)

    assert language.accepts(language.compile("ebnf", rules(4_000)), "a")
    with pytest.raises(GrammarError, match="rules, at most"):
        language.compile("ebnf", rules(25_000))


def test_a_schema_inside_a_grammar_is_read_to_its_end(language: Language) -> None:
    source = 'start: "a" x /%json \\{/ // %json {\nx: %json {"enum": ["}", "%json {"]} | "%json {"'
    assert language.accepts(language.compile("ebnf", source), 'a"}"%json {')


def test_a_schema_that_allows_nothing_is_refused(language: Language) -> None:
    for schema in ("false", '{"enum": []}', '{"$ref": "#"}'):
        with pytest.raises(GrammarError):
            language.compile("json_schema", schema)


def test_a_lenient_schema_compiles_and_says_what_it_ignores(language: Language) -> None:
    schema = {"properties": {"a": {"type": "string", "not": {"pattern": r"\bx"}}, "b": {"contains": {}}}}
    matcher = language.compile("json_schema", json.dumps(schema), lenient=True)
    assert language.accepts(matcher, '{"a":"y"}')
    assert any("$.properties.a.not" in warning for warning in matcher.warnings)


def test_a_lenient_schema_ignores_bounds_that_would_be_rounded(language: Language) -> None:  # G13
    matcher = language.compile("json_schema", '{"type": "integer", "minimum": 9007199254740993}', lenient=True)
    assert language.accepts(matcher, "3")
    assert matcher.warnings == ("$.minimum: has a number too large to be exact",)


def test_a_format_restricts_unless_the_schema_is_taken_as_defined(language: Language) -> None:  # G13
    schema = json.dumps({"properties": {"day": {"type": "string", "format": "date"}}, "required": ["day"]})
    assert not language.accepts(language.compile("json_schema", schema), '{"day":"soon"}')
    matcher = language.compile("json_schema", schema, strict=False)
    assert language.accepts(matcher, '{"day":"soon"}')
    assert matcher.warnings == ("$.properties.day.format: is an annotation",)


def test_formats_that_every_text_has_are_no_obstacle(language: Language) -> None:
    matcher = language.compile("json_schema", '{"type": "string", "format": "password"}')
    assert language.accepts(matcher, '"secret"')


@pytest.mark.parametrize(
    ("format", "right", "wrong"),
    [
        ("date", ["2024-02-29", "2000-02-29", "1999-12-31"], ["2023-02-29", "1900-02-29", "2023-04-31"]),
        ("date", ["0000-01-01", "0000-02-29"], ["0100-02-29", "0000-00-01"]),
        ("date-time", ["2024-02-29T23:59:59Z", "2023-01-01t00:00:00.5+01:30"], ["2023-02-29T00:00:00Z"]),
        ("time", ["12:00:59Z"], ["12:00:60Z", "24:00:00Z", "12:00:00"]),
        ("time", ["23:59:60Z", "23:59:60.5+00:00"], ["22:59:60Z", "23:59:60+01:00", "23:59:61Z", "23:58:60Z"]),
        ("date-time", ["1998-12-31T23:59:60Z"], ["1998-12-31T22:59:60Z", "1998-12-31T23:59:60-01:00"]),
    ],
)
def test_dates_and_times_exist(language: Language, format: str, right: list[str], wrong: list[str]) -> None:
    matcher = language.compile("json_schema", json.dumps({"type": "string", "format": format}))
    assert [text for text in right if not language.accepts(matcher, json.dumps(text))] == []
    assert [text for text in wrong if language.accepts(matcher, json.dumps(text))] == []


@pytest.mark.parametrize("format", ["shoe", "regex", "uri-reference", "int32"])
def test_a_format_that_nothing_enforces_is_an_annotation(language: Language, format: str) -> None:
    matcher = language.compile("json_schema", json.dumps({"properties": {"a": {"type": "string", "format": format}}}))
    assert language.accepts(matcher, '{"a":"anything"}')
    assert list(matcher.warnings) == ["$.properties.a.format: is an annotation"]


@pytest.mark.parametrize("dialect", ["http://json-schema.org/schema", "https://json-schema.org/draft-07/schema"])
def test_a_dialect_is_known_in_every_spelling(language: Language, dialect: str) -> None:
    assert language.accepts(language.compile("json_schema", json.dumps({"$schema": dialect, "type": "null"})), "null")


A, B = {"required": ["a"]}, {"required": ["b"]}
APART = {
    "required properties": (
        {"type": "object", "properties": {"a": {}, "b": {}, "c": {}}, "oneOf": [A, B]},
        [{"a": 1}, {"b": 1}, {"b": 1, "c": 1}],
        [{"a": 1, "b": 1}, {"c": 1}],
    ),
    "one needs more": (
        {"type": "object", "properties": {"a": {}, "b": {}}, "oneOf": [A, {"required": ["a", "b"]}]},
        [{"a": 1}],
        [{"b": 1}],
    ),
    "constants": (
        {"oneOf": [{"properties": {"k": {"const": k}, k: {"type": "number"}}, "required": ["k"]} for k in "ab"],
         "type": "object"},
        [{"k": "a", "a": 1}, {"k": "b", "b": 1}],
        [{"k": "c"}, {"k": "a", "a": "x"}],
    ),
    "references": (
        {"$defs": {"A": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
                   "B": {"type": "object", "properties": {"b": {}, "a": {}}, "required": ["b"]}},
         "oneOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}]},
        [{"a": "x"}, {"b": 1}],
        [{"a": 1}, {}],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", APART)
def test_a_value_that_two_branches_of_one_of_would_fit_is_never_written(language: Language, name: str) -> None:
    schema, right, wrong = APART[name]
    matcher = language.compile("json_schema", json.dumps(schema))
    assert [value for value in right if not language.accepts(matcher, json.dumps(value, separators=(",", ":")))] == []
    assert [value for value in wrong if language.accepts(matcher, json.dumps(value, separators=(",", ":")))] == []


def test_branches_that_cannot_be_told_apart_are_refused_without_advice_that_leads_nowhere(language: Language) -> None:
    with pytest.raises(GrammarError, match="may fit the same value") as refused:
        language.compile("json_schema", r'{"oneOf": [{"type": "string"}, {"pattern": "\\ba"}]}')
    assert "coerce" not in refused.value.message


def test_a_format_and_a_pattern_hold_together(language: Language) -> None:
    matcher = language.compile("json_schema", '{"type": "string", "format": "date", "pattern": "^20"}')
    assert language.accepts(matcher, '"2024-02-29"')
    assert not language.accepts(matcher, '"1924-02-29"')
    assert not language.accepts(matcher, '"2023-02-29"')


def test_a_regex_matches_as_a_whole(language: Language) -> None:
    matcher = language.compile("regex", r"[0-9]{4}-[0-9]{2}")
    assert language.accepts(matcher, "2024-07")
    assert not language.accepts(matcher, "2024-0")
    assert not language.accepts(matcher, "x2024-07")


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("a(?=b)", "column 2: look-around"),
        ("[a", "column 1: unclosed"),
        (r"(a)\1", "column 4: back"),
        (r"a\b", "^regex: lookarounds"),
        ("a$b", "^regex: lookarounds"),
        ("a\nb(?=c)", "^regex: line 2, column 2: look-around"),
        ("a/b(?=c)", "^regex: column 4: look-around"),
    ],
)
def test_a_bad_regex_is_refused_with_its_column_if_known(language: Language, pattern: str, words: str) -> None:
    with pytest.raises(GrammarError, match=words):
        language.compile("regex", pattern)


LARK = 'start: greeting " " name\ngreeting: "Hello" | "Hi"\nname: /[A-Z][a-z]+/'
GBNF = 'root ::= greeting " " name\ngreeting ::= "Hello" | "Hi" # comment\nname ::= [A-Z] [a-z]+'


@pytest.mark.parametrize("source", [LARK, GBNF, LARK.replace("start:", "root:")])
def test_both_notations_describe_the_same_text(language: Language, source: str) -> None:  # G13
    matcher = language.compile("ebnf", source)
    assert language.accepts(matcher, "Hi Ann")
    assert not language.accepts(matcher, "Hi ann")
    assert not language.accepts(matcher, "Bye Ann")


def test_the_notation_is_told_by_rules_not_by_strings(language: Language) -> None:
    assert language.accepts(language.compile("ebnf", 'start: "::=" // ::='), "::=")


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ('start: "a" missing', "line 1, column 8: unknown name"),
        ('start: "a"\nb: @', "line 2"),
        ('root ::= "a" missing', "line 1, column 1"),
        ("root ::= (", r"line 1, column 11: expected \)"),
        ('root ::= "a" (', "line 1"),
        ('other: "a"', "start"),
        ("start: <think>", "unknown special token"),
        ("start: /a(/", r"line 1, column 8: regex: column 2 of a\(: unclosed group"),
        ("start: <[5]>", "line 1, column 8.*by number"),
        ("", "grammar"),
    ],
)
def test_a_bad_grammar_is_refused_with_its_place(language: Language, source: str, words: str) -> None:
    with pytest.raises(GrammarError, match=words):
        language.compile("ebnf", source)


def two_letters(decoder: object) -> GrammarService:
    """Grammars over a vocabulary of two letters and an end."""
    backend = tokenizers.Tokenizer(models.BPE({"a": 0, "b": 1}, []))
    backend.decoder = decoder
    tokenizer = Tokenizer(PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="<end>"))
    return GrammarService(tokenizer, tokenizer.size, tokenizer.eos_ids)


def test_a_tokenizer_whose_tokens_cannot_be_told_as_bytes_is_refused() -> None:
    with pytest.raises(GrammarError, match="tokenizer"):
        two_letters(None).compile(GrammarSource("json"))


@pytest.mark.parametrize("source", [GrammarSource("regex", "é+"), GrammarSource("ebnf", 'root ::= "é"')])
def test_text_that_the_vocabulary_cannot_spell_is_refused(source: GrammarSource) -> None:
    grammars = two_letters(decoders.ByteLevel())
    assert grammars.compile(GrammarSource(source.kind, source.text.replace("é", "a"))) is not None
    with pytest.raises(GrammarError, match="allows no text"):
        grammars.compile(source)


def test_tools_of_a_model_without_them_are_none(language: Language) -> None:  # D7
    assert language.grammars.compile(GrammarSource("tools", schemas=['{"name": "f"}'])) is None


def test_equal_grammars_are_compiled_once(language: Language, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, run = [], Deadline.run

    def counted(self: Deadline, work: Callable[[], object]) -> object:
        compiled.append(work)
        return run(self, work)

    monkeypatch.setattr(Deadline, "run", counted)
    first, second = (language.compile("regex", "once[0-9]") for _ in range(2))
    first.accept(language.tokenizer.encode("o")[:1])
    assert second.taken == 0
    assert len(compiled) == 1


def test_compiling_at_once_from_many_threads_gives_equal_matchers(language: Language) -> None:
    found: list[set[int]] = []

    def work() -> None:
        found.append(language.allowed(language.compile("regex", "[a-f]{3}[0-9]+")))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert all(one == found[0] for one in found)


@pytest.mark.parametrize("kind", ["json", "json_schema", "regex", "ebnf"])
def test_sentencepiece_vocabularies_spell_by_bytes(sentencepiece_language: Language, kind: str) -> None:
    sources = {"json": "", "json_schema": "{}", "regex": '"[^"]*"', "ebnf": 'root ::= "\\"" [^"]* "\\""'}
    matcher = sentencepiece_language.compile(kind, sources[kind])
    tokens = sentencepiece_language.tokenizer.bytes_by_id.tokens
    byte = {text: token for token, text in tokens.items() if len(text) == 1}
    spelled = [byte[bytes([value])] for value in '"é 🙂"'.encode()]
    assert matcher.try_accept(spelled) == len(spelled)
    assert matcher.is_complete


GBNF_ROOTS = 'root ::= "a" start\nstart ::= "b" | "(" root ")"\n'
LARK_ROOTS = 'start: "a" other\nother: "b" | "(" start ")"\n'


@pytest.mark.parametrize(
    ("grammar", "root", "taken", "refused"),
    [
        (GBNF_ROOTS, "", ["ab", "a(ab)"], ["b"]),
        (GBNF_ROOTS, "root", ["ab", "a(ab)"], ["b"]),
        (GBNF_ROOTS, "start", ["b", "(ab)"], ["ab"]),
        (LARK_ROOTS, "", ["ab", "a(ab)"], ["b"]),
        (LARK_ROOTS, "start", ["ab"], ["b"]),
        (LARK_ROOTS, "other", ["b", "(ab)", "(a(ab))"], ["ab"]),
    ],
)
def test_a_grammar_begins_with_the_rule_that_is_named(
    language: Language, grammar: str, root: str, taken: list[str], refused: list[str]
) -> None:
    matcher = language.compile("ebnf", grammar, root=root)
    assert [language.accepts(matcher, text) for text in taken] == [True] * len(taken)
    assert [language.accepts(matcher, text) for text in refused] == [False] * len(refused)


@pytest.mark.parametrize("grammar", [GBNF_ROOTS, LARK_ROOTS])
def test_a_rule_that_the_grammar_lacks_is_no_beginning(language: Language, grammar: str) -> None:
    with pytest.raises(GrammarError, match="no rule is called sentence"):
        language.compile("ebnf", grammar, root="sentence")


def test_a_format_that_nothing_enforces_is_refused_where_that_is_asked(language: Language) -> None:  # G13
    schema = json.dumps({"properties": {"day": {"format": "date"}, "colour": {"format": "color"}}})
    assert language.compile("json_schema", schema).warnings == ("$.properties.colour.format: is an annotation",)
    with pytest.raises(GrammarError, match=r"\$\.properties\.colour\.format: is not enforceable$") as refused:
        language.compile("json_schema", schema, known_formats=True)
    assert "pattern" in refused.value.hint
    assert language.compile("json_schema", '{"format": "uri"}', known_formats=True)
