"""GBNF keeps its meaning: characters, never lexemes."""

import itertools
import random
import re

import pytest

from pie_mlx.engine.text.grammar.gbnf import gbnf_to_lark
from pie_mlx.engine.text.grammar.gbnf.nodes import Chars, Choice, Node, Reference, Repeat, Sequence
from pie_mlx.engine.text.grammar.gbnf.reader import MAXIMUM_NESTING, read_gbnf
from pie_mlx.engine.text.grammar.llguidance_engine import Engines
from pie_mlx.errors import GrammarError
from tests.engine.text.grammar.conftest import PADDED_SIZE, Language

JSON = r"""root ::= value
value ::= object | array | string | number | "true" | "false" | "null"
object ::= "{" (pair (", " pair)*)? "}"
pair ::= string ": " value
array ::= "[" (value (", " value)*)? "]"
string ::= "\"" [^"\\\n]* "\""
number ::= "-"? [0-9]+ ("." [0-9]+)?
"""


@pytest.mark.parametrize(
    ("source", "right", "wrong"),
    [
        ('root ::= [a-z]+ "x"', ["abx", "xx"], ["ab", "x"]),
        ('root ::= [a-z] "b" | "abc"', ["ab", "abc"], ["b", "abcb"]),
        ('root ::= word "ing"\nword ::= [a-z]+', ["doing", "inging"], ["ing", "doingx"]),
        ('root ::= ("ab" | "a") ("c" | "bc")', ["abc", "ac", "abbc"], ["ab"]),
        ('root ::= item ("," item)*\nitem ::= [^,]+ | "x,y"', ["a,b", "x,y,z"], [","]),
        ('root ::= "a" root "a" | "b"', ["b", "aabaa"], ["ab"]),
        ('root ::= e\ne ::= e "+" e | [0-9]+', ["1+2", "12+3+4"], ["+", "1+"]),
        ('root ::= "(" root ")" | "(" [a-z]+ "b)"', ["(ab)", "((abb))"], ["(a)", "(b)"]),
        ("root ::= ws a ws\na ::= ws [x] ws | root\nws ::= [ \\n]*", ["x", " \n x "], [" "]),
        ('root ::= ""', [""], ["a"]),
        ('root ::= "a"? | root "b"', ["", "a", "ab", "bb"], ["ba"]),
        ("root ::= [^\\n]{2,3}", ["ab", "é🙂"], ["a", "abcd", "a\nb"]),
        ('root ::= "ab"{2,} [x]{2}', ["ababxx", "abababxx"], ["abxx", "ababx"]),
        ('root ::= .+ "x"', ["abx", "\nx"], ["x"]),
        ('root ::= "\\u00e9\\x41\\t\\"\\\\\\U0001f642"', ['éA\t"\\🙂'], ["éA"]),
        ("root ::= [\\]\\-a/] [a-] [\\u0041-\\u0043]", ["]-A", "-aC", "/-B"], ["b-A", "]bA", "]-D"]),
        ("root ::= [.+*?()|^$]+", [".+*?()|^$"], ["a"]),
        (
            'root ::= A-b aB | b_1 # "x" ::=\nA-b ::= "1"\naB ::= "2"\n\nb_1 ::=\n  "3"\n  | "4"',
            ["12", "4"],
            ["1", "34"],
        ),
        (JSON, ['{"a": [1, "b", {}], "c": -1.5}', "null"], ["nul", "[1,2]", "1.", '{"a"}']),
    ],
)
def test_a_grammar_allows_its_text_and_no_other(
    language: Language, source: str, right: list[str], wrong: list[str]
) -> None:
    matcher = language.compile("ebnf", source)
    assert [text for text in right if not language.accepts(matcher, text)] == []
    assert [text for text in wrong if language.accepts(matcher, text)] == []


def derives(rules: dict[str, Node], text: str) -> bool:
    """Whether the rule `root` derives a text, by the definition."""
    known = {(name, place): frozenset[int]() for name in rules for place in range(len(text) + 1)}

    def ends(node: Node, place: int) -> set[int]:
        match node:
            case Chars(pattern=pattern):
                return {place + 1} if re.fullmatch(pattern, text[place : place + 1]) else set()
            case Sequence(parts=parts):
                places = {place}
                for part in parts:
                    places = {end for begin in places for end in ends(part, begin)}
                return places
            case Choice(options=options):
                return {end for option in options for end in ends(option, place)}
            case Reference(name=name):
                return set(known[name, place])
            case Repeat(node=inner, least=least, most=most):
                found, places = set[int](), {place}
                for times in range((least + len(text) if most is None else most) + 1):
                    found |= places if times >= least else set()
                    places = {end for begin in places for end in ends(inner, begin)}
                return found

    while True:
        more = {(name, place): frozenset(ends(rules[name], place)) for name, place in known}
        if more == known:
            return len(text) in known["root", 0]
        known = more


def any_node(rng: random.Random, depth: int, names: list[str]) -> str:
    kind = rng.random() if depth else 0
    if kind < 0.3:
        return rng.choice(['"a"', '"b"', '"ab"', '"abc"', "[ab]", "[^a]", "[a-c]"])
    if kind < 0.5:
        return rng.choice(names)
    parts = [any_node(rng, depth - 1, names) for _ in range(rng.randint(1, 3))]
    joined = (" | " if kind < 0.7 else " ").join(parts)
    return f"({joined}){rng.choice(['', '*', '+', '?', '{1,2}'])}"


def any_grammar(rng: random.Random) -> str:
    names = ["root", "x", "y"][: rng.randint(1, 3)]
    bodies = [" | ".join(any_node(rng, 3, names) for _ in range(rng.randint(1, 3))) for _ in names]
    return "\n".join(f"{name} ::= {body}" for name, body in zip(names, bodies, strict=True))


TEXTS = ["".join(letters) for length in range(5) for letters in itertools.product("abc", repeat=length)]


@pytest.mark.parametrize("block", range(2))
def test_any_grammar_allows_what_it_derives(language: Language, block: int) -> None:
    allowed = 0
    for seed in range(block * 12, block * 12 + 12):
        rng = random.Random(seed)
        source = any_grammar(rng)
        texts = rng.sample(TEXTS, 8)
        derived = [text for text in texts if derives(read_gbnf(source), text)]
        try:
            matcher = language.compile("ebnf", source)
        except GrammarError:
            assert not any(derives(read_gbnf(source), text) for text in TEXTS), source  # it never ends
            continue
        assert [text for text in texts if language.accepts(matcher, text)] == derived, source
        allowed += len(derived)
    assert allowed


def test_what_cannot_be_misread_stays_one_lexeme(language: Language) -> None:
    asked: list[str] = []

    def none(lark: str) -> bool:
        asked.append(lark)
        return True

    lark = gbnf_to_lark(JSON, none)
    assert len(asked) == 1
    assert sum(line.startswith("L") for line in lark.splitlines()) == 11


def test_what_may_be_misread_is_cut_and_nothing_else(language: Language) -> None:
    engine = Engines(language.tokenizer, PADDED_SIZE, (language.stop,)).llguidance("user")
    source = 'root ::= "a" root | "b" | "abc" | "key" root'
    lark = gbnf_to_lark(source, engine.allows_nothing)
    assert "/key/" in lark
    assert "/abc/" not in lark


def test_what_is_too_large_to_be_told_apart_is_cut() -> None:
    def refuse(lark: str) -> bool:
        raise GrammarError("too complex")

    assert "/ab/" not in gbnf_to_lark('root ::= "ab" root | "cd"', refuse)


def test_brackets_may_be_nested(language: Language) -> None:
    deep = MAXIMUM_NESTING
    source = "root ::= " + '("b" | ' * deep + '"a" root? "c"*' + ")?" * deep
    matcher = language.compile("ebnf", source)
    assert language.accepts(matcher, "aac")
    assert not language.accepts(matcher, "ca")
    with pytest.raises(GrammarError, match=f"column {len('root ::= ') + 7 * deep + 1}: more than {deep} brackets"):
        language.compile("ebnf", source.replace('"a"', '("b" | "a")'))


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ('root ::= "a" missing', "line 1, column 14: rule missing is not defined"),
        ("root ::= (", r"line 1, column 11: expected \), found the end"),
        ('root ::= "a" )', r"line 1, column 14: expected the name of a rule, found \)"),
        ('root ::= "a"\nroot ::= "b"', "line 2, column 1: rule root is there already"),
        ('rule ::= "a"', "no rule is called root"),
        ('root ::= "a', 'line 1, column 10: " begins nothing'),
        ('root ::= "\\q"', r"line 1, column 11: \\q is no character"),
        ('root ::= "\\ud800"', r"line 1, column 11: \\ud800 is no character"),
        ("root ::= [z-a]", "line 1, column 10: a range in .* ends before it begins"),
        ("root ::= []", "line 1, column 10: .* is no character"),
        ('root ::= "a"{3,2}', "line 1, column 13: .* ends before it begins"),
        ('root ::= "a"{9999999}', r"line 1, column 13: { begins nothing"),
        ('root ::= "a"**', "line 1, column 14: expected the name of a rule"),
    ],
)
def test_a_bad_grammar_is_refused_with_its_place(language: Language, source: str, words: str) -> None:
    with pytest.raises(GrammarError, match=words):
        language.compile("ebnf", source)
