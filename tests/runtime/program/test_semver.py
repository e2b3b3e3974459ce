import pytest
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.errors import InvalidArgumentError
from pie_mlx.runtime.program.semver import Requirement, Version

numbers = st.integers(0, 30)
versions = st.builds(
    lambda triple, pre: Version(triple, pre),
    st.tuples(numbers, numbers, numbers),
    st.lists(st.sampled_from(["alpha", "beta", "1", "11", "x-y"]), max_size=3).map(tuple),
)


@given(versions)
def test_a_version_reads_back_what_it_prints(version):
    assert Version.parse(str(version)) == version


@pytest.mark.parametrize("text", ["1.0", "1", "01.0.0", "1.0.0-01", "1.0.0-", "1.0.0+build", "v1.0.0", " 1.0.0", ""])
def test_anything_but_semver_is_refused(text):
    with pytest.raises(InvalidArgumentError):
        Version.parse(text)


def test_versions_are_ordered_as_semver_says():
    ordered = ["1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0", "1.0.1"]
    assert sorted(map(Version.parse, reversed(ordered))) == [Version.parse(text) for text in ordered]


@pytest.mark.parametrize(
    ("requirement", "matching", "others"),
    [
        ("1.2.3", ["1.2.3"], ["1.2.4", "1.2.2"]),
        ("=1.2.3", ["1.2.3"], ["1.2.4"]),
        ("^1.2.3", ["1.2.3", "1.9.0"], ["2.0.0", "1.2.2"]),
        ("^0.2.3", ["0.2.3", "0.2.9"], ["0.3.0", "1.0.0"]),
        ("^0.0.3", ["0.0.3"], ["0.0.4", "0.0.2"]),
        ("~1.2.3", ["1.2.3", "1.2.9"], ["1.3.0"]),
        (">=1.0.0, <2.0.0", ["1.0.0", "1.5.0"], ["2.0.0", "0.9.9"]),
        (">1.0.0,<=1.1.0", ["1.1.0"], ["1.0.0", "1.1.1"]),
        ("*", ["0.0.0", "9.9.9"], ["1.0.0-beta"]),
        ("^1.0.0", ["1.1.0"], ["1.1.0-beta", "2.0.0-alpha"]),
        (">=1.0.0-beta", ["1.0.0-beta", "1.0.0-rc", "1.0.0"], ["1.0.0-alpha", "1.1.0-beta"]),
    ],
)
def test_requirements_match(requirement, matching, others):
    parsed = Requirement.parse(requirement)
    assert [parsed.matches(Version.parse(text)) for text in matching] == [True] * len(matching)
    assert [parsed.matches(Version.parse(text)) for text in others] == [False] * len(others)


@pytest.mark.parametrize("text", ["", "^1.2", "1.2.3,", "!=1.0.0", ">> 1.0.0", "latest"])
def test_anything_but_a_requirement_is_refused(text):
    with pytest.raises(InvalidArgumentError):
        Requirement.parse(text)


@pytest.mark.parametrize(
    "text", [" " * 60_000, "1.0." + "9" * 5000, ">=1.0.0-" + "9" * 60_000, ",".join(["1.0.0"] * 10_000)]
)
def test_a_text_that_is_too_long_is_refused_before_it_is_looked_at(text):
    with pytest.raises(InvalidArgumentError, match="characters"):
        Requirement.parse(text)
    with pytest.raises(InvalidArgumentError, match="characters"):
        Version.parse(text)
