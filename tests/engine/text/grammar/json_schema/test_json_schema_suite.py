"""The JSON-Schema-Test-Suite: nothing invalid is ever accepted, and what is refused is refused with its place.

The suite checks validators, so schemas are taken as JSON Schema defines them. By default a generator writes properties
in the schema's order and whole numbers without a fraction; instances that the suite spells otherwise are counted apart.
"""

import functools

import pytest

from tests.engine.text.grammar.suite import DIALECTS, Outcome, groups, run

# Accepted, refused, not compiled; of valid instances and of invalid ones. They change only with the engine.
BASELINE = {
    ("draft2020-12", "default"): ((608, 0, 133), (0, 345, 171)),
    ("draft2020-12", "every spelling"): ((608, 0, 133), (0, 345, 171)),
    ("draft2020-12", "lenient"): ((715, 0, 26), (122, 361, 33)),
    ("draft7", "default"): ((509, 0, 31), (0, 309, 64)),
    ("draft7", "every spelling"): ((509, 0, 31), (0, 309, 64)),
    ("draft7", "lenient"): ((526, 0, 14), (40, 314, 19)),
}
SPELLED_OTHERWISE = {
    "order": [
        "allOf: allOf",
        "allOf: allOf with base schema",
        "different property order",
        "with dependenc",
        "quoted quotes",
        "valid object 3",
    ],
    "numbers": ["float zero", "float one", "float -2.0", "float is valid", "[0.0]", "[1.0]", "zero fractional part"],
}
BEYOND_EVERY_SPELLING = {
    "const: float and integers are equal up to 64-bit representation limits: float is valid",
    "type: integer type matches integers: a float with zero fractional part is an integer",
    "dependencies: dependencies with escaped characters: valid object 3",
    "dependencies: dependencies: with dependency",
    "dependencies: multiple dependencies: with dependencies",
    "dependentRequired: dependencies with escaped characters: quoted quotes",
    "dependentRequired: multiple dependents required: with dependencies",
    "dependentRequired: single dependency: with dependency",
}
"""A constant too large for fractions beside it, and a whole number that is no constant."""


@functools.cache
def outcome(draft: str, mode: str = "default") -> Outcome:
    return run(draft, mode)


@pytest.mark.parametrize("mode", ["default", "every spelling"])
@pytest.mark.parametrize("draft", DIALECTS)
def test_no_invalid_instance_is_accepted(draft: str, mode: str) -> None:  # G13
    assert outcome(draft, mode).wrongly_accepted == []


@pytest.mark.parametrize("draft", DIALECTS)
def test_valid_instances_of_schemas_that_compile_are_accepted(draft: str) -> None:  # G13
    accepted, refused, _ = outcome(draft).row(True)
    assert accepted / (accepted + refused) >= 0.99
    assert outcome(draft).wrongly_refused == []


@pytest.mark.parametrize("draft", DIALECTS)
def test_valid_instances_are_accepted_as_they_are_written(draft: str) -> None:  # G13
    found = outcome(draft, "every spelling")
    accepted, refused, _ = found.row(True)
    assert set(found.spelled_otherwise) <= BEYOND_EVERY_SPELLING
    assert (accepted - len(found.spelled_otherwise)) / (accepted + refused) >= 0.99


@pytest.mark.parametrize("draft", DIALECTS)
def test_only_order_and_whole_numbers_are_spelled_in_one_way(draft: str) -> None:  # G13
    known = [reason for reasons in SPELLED_OTHERWISE.values() for reason in reasons]
    other = outcome(draft).spelled_otherwise
    assert [name for name in other if not any(reason in name for reason in known)] == []


@pytest.mark.parametrize("draft", DIALECTS)
def test_every_refusal_has_a_path(draft: str) -> None:
    refusals = outcome(draft).refusals
    assert refusals
    assert [message for message in refusals if not message.startswith("schema: $")] == []


@pytest.mark.parametrize(("draft", "mode"), BASELINE)
def test_the_counts_are_those_of_the_baseline(draft: str, mode: str) -> None:
    found = outcome(draft, mode)
    assert (found.row(True), found.row(False)) == BASELINE[draft, mode]


@pytest.mark.parametrize("draft", DIALECTS)
def test_what_only_compiles_leniently_says_what_is_ignored(draft: str) -> None:
    strictly, leniently = outcome(draft), outcome(draft, "lenient")
    assert leniently.warned - strictly.warned == leniently.compiled - strictly.compiled


def test_the_suite_is_whole() -> None:
    assert {draft: sum(len(tests) for _, _, tests in groups(draft)) for draft in DIALECTS} == {
        "draft2020-12": 1257,
        "draft7": 913,
    }
