"""The JSON-Schema-Test-Suite: nothing invalid is ever accepted, and what is refused is refused with its place.

The suite checks validators. A generator may be stricter without harm: it writes properties in the schema's order,
numbers in their plainest spelling, and texts that have the format their schema names. Valid instances that differ in
one of these are the only ones it may refuse.
"""

import functools

import pytest

from .suite import DIALECTS, Outcome, groups, run

# Accepted, refused, not compiled; of valid instances and of invalid ones. They change only with the engine.
BASELINE = {
    ("draft2020-12", False): ((330, 22, 389), (0, 237, 279)),
    ("draft2020-12", True): ((681, 23, 37), (210, 261, 45)),
    ("draft7", False): ((303, 13, 224), (0, 235, 138)),
    ("draft7", True): ((502, 13, 25), (93, 249, 31)),
}
STRICTER_THAN_VALID = {
    "order": ["allOf: allOf", "allOf: allOf with base schema", "different property order", "maxItems ignored"],
    "numbers": ["float zero", "float one", "float -2.0", "float is valid", "[0.0]", "[1.0]", "zero fractional part"],
    "formats": ["is only an annotation by default"],
}


@functools.cache
def outcome(draft: str, lenient: bool) -> Outcome:
    return run(draft, lenient=lenient)


@pytest.mark.parametrize("draft", DIALECTS)
def test_no_invalid_instance_is_accepted(draft: str) -> None:  # G13
    assert outcome(draft, False).wrongly_accepted == []


@pytest.mark.parametrize("draft", DIALECTS)
def test_valid_instances_are_refused_only_for_their_spelling(draft: str) -> None:  # G13
    known = [reason for reasons in STRICTER_THAN_VALID.values() for reason in reasons]
    refused = outcome(draft, False).wrongly_refused
    assert [name for name in refused if not any(reason in name for reason in known)] == []


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
    assert leniently.warned == leniently.compiled - strictly.compiled


def test_the_suite_is_whole() -> None:
    assert {draft: sum(len(tests) for _, _, tests in groups(draft)) for draft in DIALECTS} == {
        "draft2020-12": 1257,
        "draft7": 913,
    }
