"""The three decoders over one token stream: disjoint, complete, indifferent to how it is cut."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import PreTrainedTokenizerFast

from inferlet import Model, chat, reasoning, tools
from inferlet._context.handle import ContextHandle
from inferlet._context.pending import PendingBuffer
from inferlet._decoding.markers import first_marker
from inferlet.detokenizer import Detokenizer
from pie_mlx.calls import ContextState, Formats, ParseToolCall, PendingInput, ReadVocabulary, ReasoningFormat, Turn
from pie_mlx.engine.text.tokens.tokenizer import Tokenizer
from pie_mlx.errors import ModelError
from tests.engine.text import chat_templates, tool_templates
from tests.engine.text.conftest import PLAIN, SPECIAL, byte_level
from tests.inferlet.speaking import cuts, events, shown, speaking_model
from tests.inferlet.speaking_host import SpeakingHost
from tests.instances import instances

CALL = '<tool_call>\n{"name": "f", "arguments": {"x": 1}}\n</tool_call>'


def made(
    template: str | None, special: tuple[str, ...] = (), formats: Formats | None = None, end: str = "<|im_end|>"
) -> Model:
    backend = byte_level([*SPECIAL, *special], PLAIN)
    pretrained = PreTrainedTokenizerFast(
        tokenizer_object=backend, chat_template=template, eos_token=end, bos_token="<s>"
    )
    return speaking_model(Tokenizer(pretrained), formats)


@pytest.fixture(scope="module")
def hermes() -> Model:
    return made(chat_templates.HERMES)


@pytest.fixture(scope="module")
def harmony() -> Model:
    return made(chat_templates.HARMONY, chat_templates.HARMONY_SPECIAL, end="<|return|>")


def ids(model: Model, text: str) -> list[int]:
    return model.tokenizer().encode(text)


def one_by_one(tokens: list[int]) -> list[list[int]]:
    return [[token] for token in tokens]


@pytest.mark.parametrize("kind", [chat.Decoder, reasoning.Decoder, tools.Decoder])
@pytest.mark.parametrize("template", ["hermes", "harmony"])
def test_a_reply_of_which_nothing_can_be_decoded_is_an_error(template: str, kind, request) -> None:
    model = request.getfixturevalue(template)
    decoder = kind(model)
    decoder.feed([5000, 5001])
    with pytest.raises(ModelError, match="2 of its tokens are not in the tokenizer's vocabulary"):
        decoder.feed(model.info.formats.stop_tokens[:1])


def test_a_token_that_the_tokenizer_lacks_gives_no_text(hermes: Model) -> None:
    tokens = [5000, *ids(hermes, "b<|im_end|>")]
    assert events(chat.Decoder(hermes), [tokens])[-1] == chat.Done("b", "b")


def test_chat_text_excludes_reasoning(hermes: Model) -> None:  # T46
    tokens = ids(hermes, "<think>a</think>b<|im_end|>")
    for batches in ([tokens], one_by_one(tokens)):
        assert events(reasoning.Decoder(hermes), batches) == [
            reasoning.Start(),
            reasoning.Delta("a"),
            reasoning.End("a"),
        ]
    assert events(chat.Decoder(hermes), [tokens]) == [chat.Done("b", "b")]
    assert events(chat.Decoder(hermes), one_by_one(tokens)) == [chat.Delta("b"), chat.Done("b", "")]


def test_a_message_without_a_header_is_text(harmony: Model) -> None:  # D4
    tokens = ids(harmony, "Well.<|end|><|start|>assistant<|channel|>final<|message|>Yes<|return|>")
    for batches in ([tokens], one_by_one(tokens)):
        assert events(chat.Decoder(harmony), batches)[-1].text == "Well.Yes"


def test_a_call_may_follow_a_cue_that_opened_the_reasoning(hermes: Model) -> None:  # D4, D6
    formats = msgspec.structs.replace(
        hermes.info.formats, reasoning=ReasoningFormat("<think>", "</think>", opened_by_cue=True)
    )
    model = made(chat_templates.HERMES, formats=formats)
    thinks = ids(model, f"Or a <tool_call>?</think>b{CALL}<|im_end|>")
    calls = ids(model, f"\n{CALL}b<|im_end|>")
    for cut in (lambda tokens: [tokens], one_by_one):
        assert events(tools.Decoder(model), cut(calls)) == [tools.Start(), tools.Call("f", '{"x":1}')]
        assert events(reasoning.Decoder(model), cut(calls))[-1] == reasoning.End("\n")
        assert events(reasoning.Decoder(model), cut(thinks))[-1] == reasoning.End("Or a <tool_call>?")
        for tokens in (thinks, calls):
            assert events(chat.Decoder(model), cut(tokens))[-1].text == "b"


def test_a_call_is_an_event_of_the_tools_only(hermes: Model) -> None:  # T47
    tokens = ids(hermes, '<tool_call>{"name":"f","arguments":{"x":1}}</tool_call><|im_end|>')
    assert events(tools.Decoder(hermes), [tokens]) == [tools.Start(), tools.Call("f", '{"x":1}')]
    assert events(chat.Decoder(hermes), [tokens]) == [chat.Done("", "")]


def test_two_calls_are_two_events(hermes: Model) -> None:  # T47
    other = CALL.replace('"f"', '"g"')
    tokens = ids(hermes, f"{CALL}\n{other}<|im_end|>")
    found = events(tools.Decoder(hermes), one_by_one(tokens))
    assert [event for event in found if isinstance(event, tools.Call)] == [
        tools.Call("f", '{"x":1}'),
        tools.Call("g", '{"x":1}'),
    ]


def test_a_block_that_does_not_parse_is_text(hermes: Model) -> None:  # D4
    text = '<tool_call>{"name": "f", "arguments": {"x": }}</tool_call>'
    tokens = ids(hermes, f"a{text}b<|im_end|>")
    assert events(tools.Decoder(hermes), [tokens]) == [tools.Start()]
    assert events(chat.Decoder(hermes), [tokens])[-1].text == f"a{text}b"


def test_a_call_cut_short_is_text(hermes: Model) -> None:  # D4
    text = 'ok<tool_call>{"name": "f", "arguments": {}}'
    decoder = chat.Decoder(hermes)
    decoder.feed(ids(hermes, text))
    assert decoder.finish().text == text


def test_a_closing_inside_a_string_does_not_end_the_call(hermes: Model) -> None:
    tokens = ids(hermes, '<tool_call>{"name": "f", "arguments": {"x": "\\"</tool_call>"}}</tool_call>!<|im_end|>')
    for batches in ([tokens], one_by_one(tokens)):
        assert tools.Call("f", '{"x":"\\"</tool_call>"}') in events(tools.Decoder(hermes), batches)
        assert events(chat.Decoder(hermes), batches)[-1].text == "!"


def test_done_takes_in_the_deltas_not_returned_yet(hermes: Model) -> None:  # D3
    decoder = chat.Decoder(hermes)
    assert decoder.feed(ids(hermes, "One")) == chat.Delta("One")
    assert decoder.feed(ids(hermes, " two 3")) == chat.Delta(" two 3")
    assert decoder.feed(ids(hermes, " 4<|im_end|>")) == chat.Done("One two 3 4", " 4")
    assert decoder.feed([]) == chat.Idle()


def test_what_follows_a_stop_comes_from_the_next_feeds(hermes: Model) -> None:  # D2, D3
    decoder = chat.Decoder(hermes)
    assert decoder.feed(ids(hermes, "a<|im_end|>b<|im_end|>c")) == chat.Done("a", "a")
    assert [decoder.feed([]), decoder.feed([]), decoder.feed([])] == [chat.Done("b", "b"), chat.Delta("c"), chat.Idle()]


def test_control_tokens_outside_any_format_interrupt(hermes: Model) -> None:  # D4
    tokens = ids(hermes, "a<|im_start|>b<|im_end|>")
    start = ids(hermes, "<|im_start|>")[0]
    assert events(chat.Decoder(hermes), one_by_one(tokens)) == [
        chat.Delta("a"),
        chat.Interrupt(start),
        chat.Delta("b"),
        chat.Done("ab", ""),
    ]
    assert events(chat.Decoder(hermes), [tokens]) == [chat.Interrupt(start), chat.Done("ab", "ab")]


def test_bytes_of_an_unfinished_character_are_held_back(hermes: Model) -> None:  # D5
    decoder = chat.Decoder(hermes)
    smile = ids(hermes, "🙂")
    assert len(smile) > 1
    assert [decoder.feed([token]) for token in smile[:-1]] == [chat.Idle()] * (len(smile) - 1)
    assert decoder.feed(smile[-1:]) == chat.Delta("🙂")


def test_a_remainder_at_the_end_becomes_one_replacement_character(hermes: Model) -> None:  # D5
    assert events(chat.Decoder(hermes), [[*ids(hermes, "a🙂")[:-1], *ids(hermes, "<|im_end|>")]])[-1].text == "a\ufffd"


def test_a_remainder_before_a_control_token_is_told_before_it(hermes: Model) -> None:  # D2, D5
    start = ids(hermes, "<|im_start|>")[0]
    tokens = [*ids(hermes, "a🙂")[:-1], start, *ids(hermes, "b<|im_end|>")]
    assert events(chat.Decoder(hermes), one_by_one(tokens)) == [
        chat.Delta("a"),
        chat.Delta("\ufffd"),
        chat.Interrupt(start),
        chat.Done("a\ufffdb", "b"),
    ]


def test_a_control_token_is_no_text_whatever_it_looks_like() -> None:  # D4
    model = made(None, ("CONTROL",))
    (control,) = ids(model, "CONTROL")
    model = made(None, ("CONTROL",), Formats([3], [*range(5), control], ReasoningFormat("<think>", "</think>")))
    assert events(chat.Decoder(model), [ids(model, "aCONTROLb<|im_end|>")]) == [
        chat.Interrupt(control),
        chat.Done("ab", "ab"),
    ]


def test_a_second_turn_begins_with_no_text(hermes: Model) -> None:  # D3
    decoder = chat.Decoder(hermes)
    for text in ("a", "b"):
        assert decoder.feed(ids(hermes, text)) == chat.Delta(text)
        assert decoder.feed(ids(hermes, "<|im_end|>")) == chat.Done(text, "")


def test_the_first_marker_is_the_longest_of_those_at_the_earliest_place() -> None:
    assert first_marker("a<x>b<yy>", ["<yy>", "<x>"]) == (1, "<x>")
    assert first_marker("a<x><y>", ["<x>", "<x><y>"]) == (1, "<x><y>")
    assert first_marker("a<x", ["<x>"]) is None


def test_a_reply_that_only_looks_like_a_marker_is_text(hermes: Model) -> None:
    for text in ("a <thin", "<tool_cal", "x</think>", "<", "<<think"):
        assert shown(hermes, text) == text


def test_reasoning_that_is_never_closed_ends_with_the_turn(hermes: Model) -> None:
    found = events(reasoning.Decoder(hermes), [ids(hermes, "<think>ab<|im_end|>")])
    assert found[-1] == reasoning.End("ab")
    assert shown(hermes, "<think>ab") == ""


def test_markers_may_be_several_ordinary_tokens() -> None:  # D6
    model = made(None, formats=Formats([3], list(range(5)), ReasoningFormat("[R]", "[/R]")))
    tokens = ids(model, "[R]x[/R]y<|im_end|>")
    assert len(tokens) > 6
    assert events(reasoning.Decoder(model), one_by_one(tokens))[-1] == reasoning.End("x")
    assert events(chat.Decoder(model), one_by_one(tokens))[-1].text == "y"


def test_a_cue_that_opens_the_block_starts_inside_it() -> None:  # D6
    model = made(chat_templates.CUE_OPENS_THINKING)
    decoder = reasoning.Decoder(model)
    assert decoder.feed(ids(model, "x")[:1]) == reasoning.Start()
    assert events(decoder, [ids(model, "y</think>z<|im_end|>")])[-1] == reasoning.End("xy")
    assert shown(model, "xy</think>z") == "z"


def test_channels_of_gpt_oss_are_told_apart(harmony: Model) -> None:  # D6
    text = (
        "<|channel|>analysis<|message|>think<|end|><|start|>assistant<|channel|>commentary to=functions.f "
        '<|constrain|>json<|message|>{"x": 1}<|call|>'
    )
    tokens = [*ids(harmony, text), *harmony.info.formats.stop_tokens]
    assert events(reasoning.Decoder(harmony), [tokens])[-1] == reasoning.End("think")
    assert (
        shown(harmony, "<|channel|>analysis<|message|>t<|end|><|start|>assistant<|channel|>final<|message|>Hi") == "Hi"
    )
    assert shown(harmony, "no channels") == "no channels"


def test_reset_forgets_everything(hermes: Model) -> None:  # D2
    decoder = chat.Decoder(hermes)
    decoder.feed(ids(hermes, "a<think>b"))
    decoder.reset()
    assert decoder.feed(ids(hermes, "c<|im_end|>")) == chat.Done("c", "c")


@pytest.fixture
def asked() -> tuple[Model, list[type]]:
    """A model, and the kinds of calls that were made about it."""
    with instances(SpeakingHost) as hosts:
        model = made(chat_templates.HERMES)
    return model, hosts[0].answered


def test_the_vocabulary_is_asked_for_once(asked: tuple[Model, list[type]]) -> None:
    model, calls = asked
    for _ in range(3):
        chat.Decoder(model)
        tools.Decoder(model)
    assert calls.count(ReadVocabulary) == 1


def test_only_whole_blocks_are_sent_to_be_parsed(asked: tuple[Model, list[type]]) -> None:
    model, calls = asked
    events(tools.Decoder(model), one_by_one(ids(model, f"a{CALL}b<|im_end|>")))
    assert calls.count(ParseToolCall) == 1


def test_unknown_tokens_interrupt(hermes: Model) -> None:
    assert chat.Decoder(hermes).feed([5000]) == chat.Interrupt(5000)


REPLIES = st.lists(
    st.sampled_from(["a", " b", "\n", "é", "🙂", "<think>", "</think>", CALL, "<tool_call>", "</tool_call>", "{", '"']),
    max_size=8,
).map("".join)


@given(reply=REPLIES, seed=st.integers(0, 1000))
def test_how_tokens_are_cut_never_changes_the_streams(hermes: Model, reply: str, seed: int) -> None:  # D2
    tokens = [*ids(hermes, reply), *hermes.info.formats.stop_tokens[:1]]
    for decoder in (chat.Decoder, reasoning.Decoder, tools.Decoder):
        whole = events(decoder(hermes), [tokens])
        pieces = events(decoder(hermes), cuts(tokens, seed))
        assert _boundaries(pieces) == _boundaries(whole)


def _boundaries(found: list[object]) -> list[object]:
    """Every event but the Deltas; of Done the whole text, since its tail depends on what was returned before."""
    kept = [event for event in found if not isinstance(event, chat.Delta | reasoning.Delta)]
    return [event.text if isinstance(event, chat.Done) else event for event in kept]


@given(reply=REPLIES, seed=st.integers(0, 1000))
def test_the_text_of_done_is_its_deltas_and_its_tail(hermes: Model, reply: str, seed: int) -> None:  # D3
    tokens = [*ids(hermes, reply), *hermes.info.formats.stop_tokens[:1]]
    *deltas, done = events(chat.Decoder(hermes), cuts(tokens, seed))
    assert done.text == "".join(event.text for event in deltas) + done.tail


@given(reply=REPLIES)
def test_no_text_is_lost_and_none_comes_twice(hermes: Model, reply: str) -> None:  # D4
    tokens = [*ids(hermes, reply), *hermes.info.formats.stop_tokens[:1]]
    visible = events(chat.Decoder(hermes), [tokens])[-1].text
    thought = "".join(
        event.text for event in events(reasoning.Decoder(hermes), [tokens]) if isinstance(event, reasoning.End)
    )
    calls = sum(isinstance(event, tools.Call) for event in events(tools.Decoder(hermes), [tokens]))
    blocks = sum(isinstance(event, reasoning.Start) for event in events(reasoning.Decoder(hermes), [tokens]))
    marks = len(reply) - len(visible) - len(thought) - calls * len(CALL) - blocks * len("<think>")
    assert marks in {n * len("</think>") for n in range(blocks + 1)}


def test_a_detokenizer_gives_text_as_soon_as_it_is_whole() -> None:  # D5
    detokenizer = Detokenizer({0: b"a", 1: "é".encode()[:1], 2: "é".encode()[1:]})
    assert [detokenizer.feed([0]), detokenizer.feed([1]), detokenizer.feed([2, 1])] == ["a", "", "é"]
    assert [detokenizer.finish(), detokenizer.finish()] == ["\ufffd", ""]


def test_the_end_of_a_turn_that_waits_for_what_follows_goes_before_raw_tokens() -> None:  # D1
    model = made(tool_templates.HARMONY, chat_templates.HARMONY_SPECIAL, end="<|call|>")
    pending = PendingBuffer(ContextHandle(model, ContextState(0)), PendingInput())
    pending.render(Turn("seal"))
    pending.append(ids(model, "Well."))
    assert model.tokenizer().decode(pending.tokens) == "<|end|>Well."
    assert model.tokenizer().decode(chat.seal(model)) == "<|end|>"


def test_the_end_of_a_turn_that_waits_for_what_follows_goes_before_a_pass_by_hand() -> None:  # F1, D1
    model = made(chat_templates.MISTRAL, chat_templates.MISTRAL_SPECIAL, end="</s>")
    pending = PendingBuffer(ContextHandle(model, ContextState(0)), PendingInput())
    pending.render(Turn("user", "Hi"))
    pending.end_turn()  # as Context.forward does
    assert model.tokenizer().decode(pending.drain()).endswith("Hi[/INST]")
