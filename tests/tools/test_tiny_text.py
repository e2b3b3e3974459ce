"""The text pie-tiny is trained on: reproducible, its held-out part apart, and true to the shipped template."""

import itertools
import json
import re
from typing import Any

import pytest
from tokenizers import Tokenizer

from tools.tiny.chat import CUE, NO_THOUGHT, TURN_END, pieces, prompt, render
from tools.tiny.evaluate import SHIPPED
from tools.tiny.text import FAMILIES, Sample, make_sample, systems
from tools.tiny.text.arithmetic import SOFT_SWITCHES, THINK, make_sums
from tools.tiny.text.catalogue import Concept
from tools.tiny.text.everyday import EVERYDAY, MORE_ASKS
from tools.tiny.text.facts import RELATIONS
from tools.tiny.text.independent import INDEPENDENT_ASKS, make_independent_call
from tools.tiny.text.loosening import loosened
from tools.tiny.text.mixture import make_of
from tools.tiny.text.passage_questions import ABOUT, OTHERS
from tools.tiny.text.passages import make_passage
from tools.tiny.text.source import Source, Split, is_heldout, part_of
from tools.tiny.text.styles import make_style
from tools.tiny.text.synonyms import misspelt, otherwise
from tools.tiny.text.tool_names import renamed
from tools.tiny.text.tool_use import distinct_offers, schema
from tools.tiny.text.words import CITIES, COMMON, NAMES, fragments, little_word, made_up

COUNT = 400
TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
}


@pytest.fixture(scope="module")
def samples() -> list[Sample]:
    return [make_sample(11, number, split) for number in range(COUNT) for split in ("train", "heldout")]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.from_file(str(SHIPPED / "tokenizer.json"))


def calls(sample: Sample) -> list[dict[str, Any]]:
    return [call["function"] for message in sample.messages for call in message.get("tool_calls", ())]


def parameters(sample: Sample) -> dict[str, dict[str, Any]]:
    functions = [tool.get("function", tool) for tool in sample.tools]
    return {function["name"]: function["parameters"] for function in functions}


def test_a_sample_is_the_same_every_time() -> None:
    first = [render(make_sample(3, number, "train")) for number in range(100)]
    assert first == [render(make_sample(3, number, "train")) for number in range(100)]


def test_another_seed_gives_other_samples() -> None:
    assert make_sample(3, 0, "train") != make_sample(4, 0, "train")


def test_templates_words_and_numbers_of_the_two_splits_are_disjoint() -> None:
    train: set[str] = set()
    heldout: set[str] = set()
    for number in range(1500):
        train |= make_sample(5, number, "train").used
        heldout |= make_sample(6, number, "heldout").used
    assert len(train) > 1000
    assert len(heldout) > 1000
    assert not train & heldout


def test_none_of_the_wordings_by_other_hands_is_held_out() -> None:
    assert not [text for asks in MORE_ASKS.values() for text in asks if is_heldout(text)]


def test_no_independent_wording_is_one_of_the_generators() -> None:
    known = {text.lower() for concept in EVERYDAY for text in concept.asks}
    assert not [text for asks in INDEPENDENT_ASKS.values() for text in asks if text.lower() in known]


@pytest.mark.parametrize("concept", EVERYDAY, ids=lambda concept: concept.names[0])
def test_a_wording_says_every_value_of_its_tool(concept: Concept) -> None:
    fields = [f"{{{place}}}" for place in range(len(concept.fields))]
    for text in (*concept.asks, *INDEPENDENT_ASKS[concept.names[0]]):
        assert sorted(re.findall(r"\{\d\}", text)) == fields


def test_an_independent_call_is_one_of_the_offered_tools() -> None:
    for number in range(100):
        sample = make_independent_call(3, number)
        assert sample.check.expected[0][0] in parameters(sample)


def test_prompts_of_the_two_splits_are_disjoint(samples: list[Sample]) -> None:
    train = {render(make_sample(11, number, "train")) for number in range(COUNT)}
    assert not train & {render(make_sample(11, number, "heldout")) for number in range(COUNT)}


def test_the_plainest_item_of_a_list_is_trained() -> None:
    items = ["a", "b", "c", "d", "e", "f", "g"]
    assert "a" in part_of(items, "train")


@pytest.mark.parametrize("split", ["train", "heldout"])
def test_a_made_up_value_belongs_to_its_split(split: Split) -> None:
    source = Source("seed", split)
    value = source.fresh(lambda: source.integer(0, 999))
    assert is_heldout(f"value:{value}") == (split == "heldout")


def a_source(varied: bool) -> Source:
    return next(source for number in range(100) if (source := Source(str(number), "train")).varied == varied)


def test_half_of_what_is_trained_on_is_worded_as_it_is_written() -> None:
    source = a_source(varied=False)
    assert all(loosened(source, text) == text for relation in RELATIONS for text in relation.questions)


def test_a_trained_wording_varies_but_keeps_its_fields() -> None:
    source = a_source(varied=True)
    templates = [template for relation in RELATIONS for template in relation.questions]
    varied = [loosened(source, template) for template in templates]
    assert all(text.count("{s}") == 1 for text in varied)
    assert sum(text != template for text, template in zip(varied, templates, strict=True)) > len(templates) / 4


def test_other_words_are_put_for_known_words_and_fields_are_kept() -> None:
    source = Source("seed", "train")
    said = {otherwise(source, "What is the capital of {city}? Answer.") for _ in range(100)}
    assert "What is the seat of government of {city}? Reply." in said
    assert all("{city}" in text for text in said)


def test_a_slip_of_the_keyboard_changes_one_word_and_no_field() -> None:
    source = Source("seed", "train")
    template = "Which {continent} is it? Repeat."
    for _ in range(100):
        words = zip(template.split(), misspelt(source, template).split(), strict=True)
        changed = [before for before, after in words if before != after]
        assert len(changed) <= 1
        assert "{continent}" not in changed


def test_a_held_out_wording_stays_as_it_is_written() -> None:
    source = Source("seed", "heldout")
    assert all(loosened(source, text) == text for relation in RELATIONS for text in relation.questions)


def test_a_made_up_word_stands_in_no_list() -> None:
    source = Source("seed", "train")
    assert not {fragments(source) for _ in range(500)} & {city.lower() for city in CITIES}


def test_every_family_ends_in_an_assistant_turn() -> None:
    for family in FAMILIES:
        for split in ("train", "heldout"):
            assert make_of(family, 1, 0, split).messages[-1]["role"] == "assistant"


def test_every_sample_round_trips_through_the_tokenizer(samples: list[Sample], tokenizer: Tokenizer) -> None:
    for sample in samples:
        text = render(sample)
        assert tokenizer.decode(tokenizer.encode(text).ids, skip_special_tokens=False) == text


def test_trained_words_have_the_tokens_that_no_listed_word_has(tokenizer: Tokenizer) -> None:
    source = Source("seed", "train")
    said = {token for _ in range(9000) for token in tokenizer.encode(made_up(source) + " ").tokens}
    held_out = {token for word in part_of(COMMON, "heldout") for token in tokenizer.encode(word + " ").tokens}
    assert not held_out - said


def test_a_tool_whose_name_says_nothing_is_described() -> None:
    source = Source("seed", "train")
    offers = [offer for _ in range(600) for offer in distinct_offers(source, 2) if offer.described]
    described = [schema(source, offer, wrapped=False, described=0.0) for offer in offers]
    assert len(offers) > 40
    assert all("description" in tool for tool in described)


def names_like(name: str) -> set[str]:
    return {renamed(Source(f"{seed}", "train"), name, "").lower() for seed in range(200)}


def test_a_first_word_that_says_little_gives_way_to_many_others() -> None:
    assert len([name for name in names_like("get_sum") if name.endswith("_sum") and "get" not in name]) > 10


def test_a_first_word_that_says_much_stays() -> None:
    assert all("flip" in name for name in names_like("flip_coin"))


def test_pieces_tokenise_as_the_whole_text(samples: list[Sample], tokenizer: Tokenizer) -> None:
    for sample in samples:
        parts = [token for text, _ in pieces(sample) for token in tokenizer.encode(text).ids]
        assert parts == tokenizer.encode(render(sample).removesuffix("\n")).ids


def test_a_longer_conversation_extends_the_shorter_one(samples: list[Sample]) -> None:  # D1
    for sample in samples:
        whole = render(sample)
        for count in range(1, len(sample.messages)):
            assert whole.startswith(render(sample, count))


def test_the_cue_is_what_the_template_writes_before_an_answer(samples: list[Sample]) -> None:  # D1
    for sample in samples:
        assert prompt(sample).endswith(CUE + (NO_THOUGHT if sample.thinking is False else ""))
        assert render(sample).startswith(prompt(sample))


def test_learned_pieces_end_their_turn(samples: list[Sample]) -> None:
    for sample in samples:
        learned = [text for text, mine in pieces(sample) if mine]
        assert len(learned) == sum(message["role"] == "assistant" for message in sample.messages)
        assert all(text.endswith(TURN_END) for text in learned)


def test_tool_calls_fit_their_schema(samples: list[Sample]) -> None:
    for sample in samples:
        offered = parameters(sample)
        for call in calls(sample):
            schema = offered[call["name"]]
            assert set(schema.get("required", ())) <= set(call["arguments"]) <= set(schema["properties"])
            for key, value in call["arguments"].items():
                kind = schema["properties"][key]["type"]
                assert isinstance(value, TYPES[kind])
                assert kind == "boolean" or not isinstance(value, bool)


def test_tool_calls_are_rendered_as_json(samples: list[Sample]) -> None:
    for sample in samples:
        bodies = [
            part.split("\n</tool_call>")[0]
            for text, mine in pieces(sample)
            if mine
            for part in text.split("<tool_call>\n")[1:]
        ]
        assert [json.loads(body) for body in bodies] == calls(sample)


def test_names_of_offered_tools_differ(samples: list[Sample]) -> None:
    for sample in samples:
        assert len(parameters(sample)) == len(sample.tools)


def test_a_thought_is_written_exactly_when_asked_for_and_not_forbidden() -> None:
    for number in range(200):
        sample = make_of(make_sums, 1, number, "train")
        first = sample.messages[0]
        asked_by_system = first["role"] == "system" and first["content"].endswith(THINK) and sample.thinking is None
        for question, answer in itertools.pairwise(sample.messages):
            if answer["role"] == "assistant":
                asked = asked_by_system or question["content"].endswith(SOFT_SWITCHES)
                assert ("reasoning_content" in answer) == asked


def test_a_manner_stands_before_a_system_prompt_and_changes_nothing_else() -> None:
    opened = 0
    for number in range(200):
        seed = f"manner/{number}"
        sample = make_style(Source(seed, "train"))
        other = systems.opened(Source(seed, "train"), sample)
        own = sample.messages[0]["content"]
        assert other.messages[0]["content"].endswith(own)
        assert other.messages[1:] == sample.messages[1:]
        opened += other != sample
    assert opened > 30


def test_a_name_that_is_a_little_word_is_no_listed_name() -> None:
    source = Source("seed", "train")
    said = {little_word(source) for _ in range(300)}
    assert len(said) > 10
    assert not said & set(NAMES)


def test_what_only_training_asks_of_passages_is_not_held_out() -> None:
    only_trained = {text for texts in (ABOUT, *OTHERS) for text in texts}
    trained = [make_of(make_passage, 3, number, "train").used for number in range(200)]
    heldout = [make_of(make_passage, 3, number, "heldout").used for number in range(200)]
    assert any(used & only_trained for used in trained)
    assert not any(used & only_trained for used in heldout)
