"""The JSON-Schema-Test-Suite: nothing invalid is ever accepted, and what is refused is refused with its place.

The suite checks validators, so schemas are taken as JSON Schema defines them. A generator writes properties in the
schema's order and whole numbers without a fraction; instances that the suite spells otherwise are counted apart.
"""

import functools

import pytest

from .suite import DIALECTS, Outcome, groups, run

# Accepted, refused, not compiled; of valid instances and of invalid ones. They change only with the engine.
BASELINE = {
    ("draft2020-12", False): ((421, 0, 320), (0, 243, 273)),
    ("draft2020-12", True): ((710, 0, 31), (211, 266, 39)),
    ("draft7", False): ((376, 0, 164), (0, 241, 132)),
    ("draft7", True): ((521, 0, 19), (93, 255, 25)),
}
SPELLED_OTHERWISE = {
    "order": ["allOf: allOf", "allOf: allOf with base schema", "different property order"],
    "numbers": ["float zero", "float one", "float -2.0", "float is valid", "[0.0]", "[1.0]", "zero fractional part"],
}


@functools.cache
def outcome(draft: str, lenient: bool) -> Outcome:
    return run(draft, lenient=lenient)


@pytest.mark.parametrize("draft", DIALECTS)
def test_no_invalid_instance_is_accepted(draft: str) -> None:  # G13
    assert outcome(draft, False).wrongly_accepted == []


@pytest.mark.parametrize("draft", DIALECTS)
def test_valid_instances_of_schemas_that_compile_are_accepted(draft: str) -> None:  # G13
    accepted, refused, _ = outcome(draft, False).row(True)
    assert accepted / (accepted + refused) >= 0.99
    assert outcome(draft, False).wrongly_refused == []


@pytest.mark.parametrize("draft", DIALECTS)
def test_only_order_and_whole_numbers_are_spelled_in_one_way(draft: str) -> None:  # G13
    known = [reason for reasons in SPELLED_OTHERWISE.values() for reason in reasons]
    other = outcome(draft, False).spelled_otherwise
    assert [name for name in other if not any(reason in name for reason in known)] == []


@pytest.mark.parametrize("draft", DIALECTS)
def test_every_refusal_has_a_path(draft: str) -> None:
    refusals = outcome(draft, False).refusals
    assert refusals
    assert [message for message in refusals if not message.startswith("schema: $")] == []


@pytest.mark.parametrize(("draft", "lenient"), BASELINE)
def test_the_counts_are_those_of_the_baseline(draft: str, lenient: bool) -> None:
    found = outcome(draft, lenient)
    assert (found.row(True), found.row(False)) == BASELINE[draft, lenient]


@pytest.mark.parametrize("draft", DIALECTS)
def test_what_only_compiles_leniently_says_what_is_ignored(draft: str) -> None:
    strictly, leniently = outcome(draft, False), outcome(draft, True)
    assert leniently.warned - strictly.warned == leniently.compiled - strictly.compiled


def test_the_suite_is_whole() -> None:
    assert {draft: sum(len(tests) for _, _, tests in groups(draft)) for draft in DIALECTS} == {
        "draft2020-12": 1257,
        "draft7": 913,
    }
