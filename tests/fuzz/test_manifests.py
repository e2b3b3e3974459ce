"""TOML that is almost a manifest."""

from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.targets import manifest
from tests.fuzz.values import WORDS

SECTIONS = ["package", "runtime", "parameters", "dependencies", "a.b.c", "[array]", "parameters.p"]
KEYS = ["name", "version", "entry", "call", "inferlet", "packages", "exclude", "authors", "p", "a.b", '"q.r"', "type"]
NUMBERS = ["0", "1", "-1", "1e999", "nan", "0x" + "f" * 400, "9" * 5000, "1_0", "1979-05-27T07:32:00Z"]
LONG_VERSION = f'"{"0." * 999}0"'
TEXTS = [*map(repr, WORDS[1:]), '"1.0.0"', '"^1.2"', '"main"', f'"{"9" * 5000}.0.0"', LONG_VERSION, '"""x"""']
DEEP = ["[" * 2000 + "]" * 2000, "{a=" * 1000 + "1" + "}" * 1000, "[" * 900]
DOTTED = ".".join(["a"] * 900)

values = st.sampled_from([*NUMBERS, *TEXTS, *DEEP, "true", "[]", "{}"]) | st.text(max_size=20)
tables = st.lists(st.tuples(st.sampled_from([*KEYS, DOTTED]), values), max_size=3).map(
    lambda pairs: "{" + ", ".join(f"{key} = {value}" for key, value in pairs) + "}"
)
lines = st.builds("{} = {}".format, st.sampled_from([*KEYS, DOTTED]), values | tables) | st.sampled_from(
    [*(f"[{name}]" for name in SECTIONS), f"[{DOTTED}]", 'name = "demo"', 'version = "1.0.0"', "# x"]
)


@given(st.lists(lines, max_size=12).map("\n".join))
def test_toml_is_a_manifest_or_refused(text):
    manifest(text.encode(errors="replace"))
