"""Languages have the texts that patterns are found in, and are written as patterns without look-around."""

import re
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pie_mlx.engine.text.grammar.json_schema.patterns.language import Language
from pie_mlx.engine.text.grammar.json_schema.patterns.syntax import UnknownPatternError

LETTERS = st.sampled_from(["a", "b", "-", "[ab]", "[^a]", ".", r"\w", r"\n"])
PATTERNS = st.recursive(
    LETTERS,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map("(?:{0[0]}|{0[1]})".format),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{0,2}", "{2,}"])).map(
            "(?:{0[0]}){0[1]}".format
        ),
        st.tuples(st.sampled_from("=!"), inner, st.sampled_from(["", "$"]), inner).map(
            "(?{0[0]}{0[1]}{0[2]}){0[3]}".format
        ),
    ),
    max_leaves=6,
)
WHOLE = st.tuples(st.sampled_from(["", "^"]), PATTERNS, st.sampled_from(["", "$"])).map("".join)
TEXTS = st.lists(st.text("ab-\nx", max_size=6), min_size=5, max_size=5)


def finds(pattern: str, text: str) -> bool:
    """As Python does it, whose `$` is before a last line break as well, and whose `.` knows of no other breaks."""
    python = re.sub(r"\\x\{([0-9a-f]+)\}", lambda found: re.escape(chr(int(found[1], 16))), pattern)
    return re.search(python.replace("$", r"\Z"), text, re.ASCII) is not None


@given(WHOLE, TEXTS)
@settings(max_examples=150)
def test_a_language_has_the_texts_in_which_its_pattern_is_found(pattern: str, texts: list[str]) -> None:
    language = Language.of(pattern)
    found = [finds(pattern, text) for text in texts]
    assert [language.has(text) for text in texts] == found
    assert [(~language).has(text) for text in texts] == [not one for one in found]
    if not language.is_empty:
        assert [finds(language.pattern(), text) for text in texts] == found


@given(WHOLE, WHOLE, TEXTS)
@settings(max_examples=50)
def test_what_is_in_two_languages_is_written_as_one_pattern(one: str, other: str, texts: list[str]) -> None:
    both = Language.of(one) & Language.of(other)
    found = [finds(one, text) and finds(other, text) for text in texts]
    with suppress(UnknownPatternError):  # one pattern for both may be longer than any that is written
        assert both.is_empty or [finds(both.pattern(), text) for text in texts] == found
    assert not (both.is_empty and any(found))


@pytest.mark.parametrize("pattern", ["^(?!a)(?=.b).*$", "^(?=.*a)b", "(?!a)b", "^a|b", "^(?!a$)"])
def test_factors_have_the_texts_of_the_whole_in_common(pattern: str) -> None:
    for text in ("", "a", "b", "ab", "bb", "ba", "bba"):
        assert all(factor.has(text) for factor in Language.factors(pattern)) == Language.of(pattern).has(text)


def test_numbers_of_characters_are_read() -> None:
    assert Language.of(r"^\x41\u0042\u{43}\x{44}(?s:.)\x45$").has("ABCD\nE")


@pytest.mark.parametrize(
    "pattern",
    [r"(a)\1", r"\bword\b", "(?<=a)b", "a**", "[b-a]", "(", "[", "(?i)a", "a?^b", "((a{100}){100}){100}", r"\p{L}"],
)
def test_what_is_no_small_language_is_refused(pattern: str) -> None:
    with pytest.raises(UnknownPatternError):
        Language.of(pattern).pattern()


@pytest.mark.parametrize("pattern", ["(a|b)*a(a|b){12}", "|".join(map("{0}{0}".format, range(400)))])
def test_a_language_of_too_many_states_is_refused(pattern: str) -> None:
    with pytest.raises(UnknownPatternError):
        Language.of(pattern).pattern()
