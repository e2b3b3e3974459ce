"""Rules traced in JavaScript are those traced in Python, and mistakes in them are told alike."""

from functools import cache
from typing import Any

import msgspec
import pytest

from inferlet import rule, rules
from inferlet._rules.joining import with_end
from inferlet.rules import Number, OtherRow, Row, Value, Vector, Whole, maximum, scatter, where
from pie_mlx.calls import RuleGraph, RuleUse
from tests.javascript.inferlet.running import run


@rule(candidates=32)
def everything(row: Row, total: Value, key: Whole = 3) -> tuple[Value, dict[str, Number], Value]:
    logits, tokens, generated, seen = row.logits, row.tokens, row.generated, row.seen
    sums = generated.cumulative_sum() + tokens.to_float() - logits.mean()
    same = ((tokens == row.previous) | (tokens == 3)) & ~seen
    changed = where(same, maximum(sums, -0.0), logits.to_integer().to_float())
    apart = scatter(abs(changed.log()), tokens, row.repeated.at(tokens))
    return 1.0 - apart, {"total": total + row.drawn.to_float(), "key": row.drawn}, total == 10.0


@rule(candidates=8)
def of_three(row: Row, second: OtherRow, third: OtherRow) -> Value:
    joined = row.logits + second.log_probabilities * third.probabilities.sum()
    return joined - (third.entropy + third.hidden_state.max())


@rule
def unsure(row: Row, nats: Number = 3.0) -> Value:
    return row.entropy > nats


@rule
def spent(row: Row, doubt: Number = 0.0, budget: Number = 4.0) -> tuple[Value, dict[str, Number]]:
    total = doubt + row.entropy
    return total > budget, {"doubt": total}


@rule
def probed(row: Row, towards: Vector, most: Number = 2.0) -> Value:
    classes = row.hidden_state.matmul([[1, 0.5, -2], [0, 1, 1]]) + row.vector([0.25, 1])
    share = (classes - classes.log_sum_exp()).exp().at(1)
    return share + row.hidden_state.dot(towards) > most


@rule
def scaled(row: Row) -> Value:
    return row.logits * row.hidden_state.dot([1, 1, 1])


USES = {
    "probed": probed(towards=[1, 2, 0.1]),
    "probedTwice": with_end(scaled(), probed(towards=[0, -1, 2], most=1.0)),
    "minP": rules.min_p(),
    "topNSigma": rules.top_n_sigma(n=1.5),
    "eta": rules.eta(epsilon=1e-3),
    "typical": rules.typical(mass=0.8),
    "xtc": rules.xtc(threshold=0.02),
    "entropyTemperature": rules.entropy_temperature(sure=0.5),
    "mirostat": rules.mirostat(2.0, 0.3),
    "watermark": rules.watermark(key=7),
    "dry": rules.dry(multiplier=2.0),
    "dryBroken": rules.dry(allowed=3.0, breakers=[70, 9, 70]),
    "entropyGate": rules.entropy_gate(5, pause=9.0),
    "guidance": rules.guidance(scale=2.0),
    "contrastive": rules.contrastive(plausible=0.2),
    "mixture": rules.mixture(),
    "product": rules.product(weight=0.3),
    "everything": everything(total=1.0),
    "ofThree": of_three(),
    "unsure": unsure(nats=2.0),
    "joined": with_end(rules.mirostat(2.0, 0.3), spent(budget=9.0)),
}


@cache
def acted() -> dict[str, Any]:
    return run("act_rules.mjs")


def used(sent: dict[str, Any]) -> RuleUse:
    vectors = {name: bytes.fromhex(data) for name, data in sent["vectors"].items()}
    return RuleUse(bytes.fromhex(sent["code"]), sent["parameters"], sent["state"], vectors)


def meaning(graph: RuleGraph) -> RuleGraph:
    """Without what differs between languages: the name for messages, and lines."""
    nodes = tuple(msgspec.structs.replace(node, line=0) for node in graph.nodes)
    return msgspec.structs.replace(graph, nodes=nodes, name="rule")


@pytest.mark.parametrize("name", USES)
def test_a_rule_is_the_same_in_both_languages(name: str) -> None:
    found = used(acted()["uses"][name])
    assert meaning(found.graph) == meaning(USES[name].graph)
    assert (found.parameters, found.state) == (USES[name].parameters, USES[name].state)
    assert found.vectors == USES[name].vectors


def test_the_next_draw_gets_the_states_that_the_last_one_left() -> None:
    found = used(acted()["after"])
    assert (found.parameters, found.state) == ({"tau": 2, "rate": 0.3}, {"mu": 2.5})
    assert acted()["without"] is None


def test_the_next_draw_keeps_its_vectors() -> None:
    assert acted()["withVectors"] == 1


def test_operations_have_the_line_of_the_program() -> None:
    line, sent = acted()["line"]
    assert {node.line for node in used(sent).graph.nodes} == {line}


def test_a_rule_that_reads_the_text_is_known() -> None:
    assert acted()["counts"] == [False, True, True]


def test_the_share_of_green_tokens_is_the_same() -> None:
    green = rules.green_share
    assert acted()["green"] == [green([5, 900, 3, 70_000, 12, 5], 7), green([1, 2, 3], 2**24 - 1, 0.5)]


def test_the_z_score_of_a_watermark_is_the_same() -> None:
    score = rules.watermark_z_score
    expected = [score([5, 900, 3, 900, 3, 12, 5], 7), score([1, 2, 3], 9, 0.5)]
    assert acted()["scores"] == pytest.approx(expected)


def test_texts_vote_alike() -> None:
    assert acted()["vote"] == [*rules.vote(["b", "a", None, "a", "b"])]


MISTAKES = {
    "scores_one_token": ("no pair of tokens", "at least two tokens"),
    "votes_for_nothing": ("vote: no answer", "at least one"),
    "ends_nothing": ("until: rule eta: it ends no text", "a condition"),
    "ends_twice": ("unsure ends the text already", "one rule"),
    "ends_and_changes": ("it changes the logits", "give it to the sampler"),
    "breaks_elsewhere": ("its repetitions end at other tokens than those of dry", "let both break alike"),
    "breaks_at_a_text": ("breakers: string is not a whole number", "whole numbers"),
    "sees_other_candidates": ("it sees 0 candidates, typical 256", "as many"),
    "branches": ("a value is no number yet", "a.less(b)"),
    "loops_without_end": ("more than 256 operations", "each time"),
    "loops": ("a value cannot be looped over", "all tokens at once"),
    "adds_conditions": ("add: it takes float and float, got float and condition", "where(condition, a, b)"),
    "sums_a_number": ("sum of one float", "a row or vector"),
    "multiplies_a_row": ("matmul of a row of floats", "a vector"),
    "adds_a_vector_to_a_row": ("add of a row of floats and a vector of as many floats as the model is wide", "dot"),
    "takes_vectors_of_two_widths": ("multiply: vectors of 2 and 3 numbers", "equally long"),
    "multiplies_uneven_rows": ("a matrix whose rows are not equally long", "for each output"),
    "has_10_mb_of_constants": ("more than 65536 numbers in all arrays", "fewer outputs"),
    "has_a_nan_weight": ("a constant vector: a number that is not finite", "finite numbers"),
    "adds_a_list": ("Array in a rule", "row.vector(...)"),
    "lacks_a_vector": ("rule probed: parameter towards is missing", "towards: ..."),
    "passes_a_number_for_a_vector": ("rule probed: towards: got number", "finite numbers"),
    "joins_numbers": ("and: it takes condition and condition, got float and condition", "compare two values"),
    "adds_a_text": ("string in a rule", "a parameter"),
    "adds_nan": ("NaN in a rule", "a number"),
    "adds_integers": ("add: it takes float and float, got float and integer", "toFloat"),
    "hashes_floats": ("hash: it takes integer and integer and integer, got float", "toInteger"),
    "takes_a_fraction": ("0.5 where a whole number is needed", "a whole number"),
    "answers_a_number": ("rule answer: it answers <one float of a rule>", "a row of floats"),
    "answers_nothing": ("rule answer: it answers undefined", "a row of floats"),
    "forgets": ("rule forgets: it answers states that are no parameters: mu", "parameters"),
    "carries_a_row": ("rule carries: state mu is a row of floats", "carry a number"),
    "lacks_a_parameter": ("rule rule: parameter factor is missing", "factor: ..."),
    "misspells_a_parameter": ("rule rule: no parameter shfit", "factor, shift"),
    "passes_a_text": ("rule rule: factor: got string", "pass a number"),
    "defaults_to_a_text": ("rule odd: p defaults to string", "a number"),
    "is_not_called": ("sampler: rule: got function", "call the rule"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_with_what_to_write(name: str) -> None:
    (message, hint), (code, told, advice) = MISTAKES[name], acted()["mistakes"][name]
    assert code in ("invalid_argument", "invalid_type")
    assert message in told
    assert hint in advice
