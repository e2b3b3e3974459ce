"""The blocking facade over the engine double, and its decoder over a model that speaks."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from inferlet import sync
from inferlet.model import Model
from inferlet.sync import (
    Adapter,
    Context,
    Decoder,
    Event,
    EventStream,
    ForwardPass,
    Sampler,
    TokenStream,
    session,
    zo,
)
from pie_mlx import calls
from pie_mlx.errors import (
    InvalidArgumentError,
    InvalidTypeError,
    KvCapacityError,
    SessionClosedError,
    StepConsumedError,
)
from tests.engine.text import chat_templates
from tests.inferlet._decoding.test_decoder import ids, made
from tests.inferlet.toy_host import ToyHost

CALL = '<tool_call>\n{"name": "f", "arguments": {"x": 1}}\n</tool_call>'


def test_everything_exported_is_there() -> None:
    assert [name for name in sync.__all__ if not hasattr(sync, name)] == []


def test_a_reply_is_generated_in_one_call(model: Model) -> None:  # Y1
    assert Context(model).system("Be brief.").user("Hi").generate_text(Sampler.greedy()) == "hello"


def test_auto_flush_computes_all_but_one_token(host: ToyHost, model: Model) -> None:  # Y1
    context = Context(model).user("Hi")
    stream = context.generate(Sampler.greedy(), max_tokens=2)
    assert len(context.buffer()) == 1
    assert context.seq_len > 0
    assert len(stream.tokens()) == 2


def test_without_auto_flush_nothing_is_added_or_computed(model: Model) -> None:  # Y1
    context = Context(model).fill("abc")
    before = context.buffer()
    stream = context.generate(Sampler.greedy(), max_tokens=3, auto_flush=False)
    assert (context.buffer(), context.seq_len) == (before, 0)
    assert [len(tokens) for tokens in stream] == [1, 1, 1]
    assert stream.finish_reason == "length"


def test_a_failed_flush_leaves_the_buffer_and_the_bid(host: ToyHost, model: Model) -> None:  # E3
    context = Context(model).system("Be brief.").user("Hi")
    context.asynchronous.set_bid(2.5)
    before = context.buffer()
    host.failure = InvalidArgumentError("no")
    with pytest.raises(InvalidArgumentError):
        context.generate(Sampler.greedy())
    assert (context.buffer(), context.seq_len, host.bids[-1]) == (before, 0, (context.id, "set", 2.5, 0.0))
    assert context.generate_text(Sampler.greedy()) == "hello"


@pytest.mark.parametrize(
    "options",
    [{"max_tokens": -1}, {"constrain": 5}, {"maxtokens": 3}, {"logit_mask": [-1]}, {"stop": [-1]}, {"horizon": -1}],
    ids=str,
)
def test_an_option_that_is_refused_leaves_the_context(model: Model, options: dict[str, Any]) -> None:  # E3
    context = Context(model).user("Hi")
    before = context.buffer()
    with pytest.raises((InvalidArgumentError, TypeError)):
        context.generate(Sampler.greedy(), **options)
    assert (context.buffer(), context.seq_len) == (before, 0)


def test_inside_an_event_loop_generating_leaves_the_context(model: Model) -> None:  # E3
    context = Context(model).user("Hi")
    before = context.buffer()

    async def generate() -> None:
        context.generate(Sampler.greedy())

    with pytest.raises(InvalidArgumentError, match="event loop"):
        asyncio.run(generate())
    assert context.buffer() == before


def test_the_prompt_is_computed_at_the_bid_of_its_reply(host: ToyHost, model: Model) -> None:  # B7
    context = Context(model).user("Hi")
    context.generate(Sampler.greedy(), horizon=5)
    assert host.bids == [(context.id, "rebid", 5.0, 0.0)]


def test_events_end_with_the_whole_text(model: Model) -> None:  # Y1
    events = list(Context(model).user("Hi").generate(Sampler.greedy(), decode=True))
    assert "".join(event.text for event in events if isinstance(event, Event.Text)) == "hello"
    assert events[-1] == Event.Done("hello")


@pytest.mark.parametrize("decode", [False, True], ids=["tokens", "events"])
def test_text_of_a_stream_includes_what_was_iterated_over(model: Model, decode: bool) -> None:
    stream = Context(model).user("Hi").generate(Sampler.greedy(), decode=decode)
    next(iter(stream))
    assert stream.text() == "hello"


def test_who_begins_again_goes_on_with_the_events(model: Model) -> None:  # Y1
    whole = list(Context(model).user("Hi").generate(Sampler.greedy(), decode=True))
    stream = Context(model).user("Hi").generate(Sampler.greedy(), decode=True)
    assert [next(iter(stream)) for _ in whole] == whole
    assert list(stream) == []


def test_text_inside_the_loop_over_the_events_is_the_whole_text(model: Model) -> None:  # Y1
    stream = Context(model).user("Hi").generate(Sampler.greedy(), decode=True)
    assert [(stream.text(), stream.text()) for _ in stream] == [("hello", "hello")]


def test_asking_for_the_tokens_loses_no_event(model: Model) -> None:  # Y1
    stream = Context(model).user("Hi").generate(Sampler.greedy(), decode=True)
    assert len(stream.tokens()) > 1
    assert stream.text() == "hello"


def test_text_of_several_turns_is_that_of_all_turns() -> None:  # Y1
    model = made(chat_templates.HERMES)
    tokens = _Tokens(ids(model, "a<|im_end|>b<|im_end|>c"))
    assert EventStream(tokens, Decoder(model)).text() == "abc"  # type: ignore[arg-type]


def test_text_of_tokens_of_several_turns_is_that_of_all_turns(monkeypatch: pytest.MonkeyPatch) -> None:  # Y1
    model = made(chat_templates.HERMES)
    stream = TokenStream(None, model)  # type: ignore[arg-type]
    monkeypatch.setattr(stream, "tokens", lambda: ids(model, "a<|im_end|>b<|im_end|>c"))
    assert stream.text() == "abc"


class _Tokens:
    """A TokenStream over what was generated before, token by token."""

    def __init__(self, tokens: list[int]) -> None:
        self._rest = tokens

    def __iter__(self) -> Iterator[list[int]]:
        while self._rest:
            yield [self._rest.pop(0)]


def test_names_are_labels_used_once(model: Model) -> None:  # Y1
    first = Context(model, name="a")
    assert first.name == "a"
    assert first.fork().name != "a"
    for again in (lambda: Context(model, name="a"), lambda: first.fork("a")):
        with pytest.raises(InvalidArgumentError, match="taken"):
            again()


@pytest.mark.parametrize("name", [5, [], b"a"], ids=repr)
def test_names_are_text(model: Model, name: Any) -> None:  # Y1, E1
    for make in (lambda: Context(model, name=name), lambda: Context(model).fork(name)):
        with pytest.raises(InvalidTypeError, match="context name"):
            make()


def test_a_name_that_is_refused_makes_no_context(host: ToyHost, model: Model) -> None:  # Y1, E3
    context = Context(model, name="a")
    for make in (lambda: Context(model, name="a"), lambda: context.fork("a")):
        with pytest.raises(InvalidArgumentError):
            make()
    assert list(host.contexts) == [context.id]
    assert host.sent(calls.ForkContext) == []


def test_a_label_is_free_again_when_its_context_is_released_or_dropped(model: Model) -> None:  # Y1
    with Context(model, name="a"):
        pass
    dropped = Context(model, name="a")
    del dropped
    again = Context(model, name="a")
    again.release()
    kept = Context(model, name="a")
    again.release()
    with pytest.raises(InvalidArgumentError, match="it is taken"):
        kept.fork("a")


def test_a_label_that_is_made_up_is_not_one_that_was_given(model: Model) -> None:  # Y1
    contexts = [Context(model, name) for name in ("context-2", None, "context-4", None)]
    assert [context.name for context in contexts] == ["context-2", "context-1", "context-4", "context-3"]


def test_contexts_are_released_on_leaving_with(host: ToyHost, model: Model) -> None:
    with Context(model) as context:
        context.fill("abc").flush()
    assert context.id not in host.contexts


def test_snapshots_are_saved_opened_and_taken(model: Model) -> None:
    context = Context(model).fill("abc")
    context.flush()
    context.save("s")
    opened, taken = Context.open(model, "s"), Context.take(model, "s")
    assert opened is not None
    assert taken is not None
    assert (opened.seq_len, taken.seq_len) == (3, 3)
    assert Context.open(model, "s") is None


def test_tools_are_offered_and_answered(model: Model) -> None:
    context = Context(model).equip_tools(['{"name": "f"}']).user("Hi").answer_tool("f", {"a": 1})
    assert '<tool>f={"a": 1}<end>' in model.tokenizer().decode(context.buffer())


def test_a_pass_by_hand_needs_its_pages_reserved(model: Model) -> None:  # F12
    context = Context(model)
    context.inner().reserve_working_pages(1)
    forward = ForwardPass(model).context(context).input_tokens([40, 41], [0, 1]).sampler([1], Sampler.greedy())
    assert forward.execute() == [calls.SampledTokens([42])]
    assert context.seq_len == 2
    with pytest.raises(StepConsumedError):
        forward.execute()


def test_a_pass_by_hand_sends_all_it_was_given(host: ToyHost, model: Model) -> None:  # Y1
    context = Context(model)
    context.inner().reserve_working_pages(1)
    forward = ForwardPass(model).context(context).input_tokens([40], [0]).input_tokens([41], [3])
    forward.attention_mask([[0, 1], [1, 1]]).logit_mask([3, 60]).sampler([1], Sampler.greedy()).execute()
    (sent,) = host.sent(calls.Forward)
    assert (sent.tokens, sent.positions) == ([40, 41], [0, 3])
    assert (sent.attention_masks, sent.logit_mask) == ([[0, 1], [1, 1]], [3, 60])
    assert (sent.reserve, sent.commit) == (False, False)


def test_a_pass_by_hand_that_failed_can_be_executed_again(host: ToyHost, model: Model) -> None:  # E3
    context = Context(model)
    forward = ForwardPass(model).context(context).input_tokens([40], [0]).sampler([0], Sampler.greedy())
    host.failure = KvCapacityError("no page")
    with pytest.raises(KvCapacityError):
        forward.execute()
    context.inner().reserve_working_pages(1)
    assert forward.execute() == [calls.SampledTokens([41])]
    with pytest.raises(StepConsumedError):
        forward.execute()


def test_a_pass_reads_the_whole_distribution(model: Model) -> None:
    context = Context(model)
    context.inner().reserve_working_pages(1)
    forward = ForwardPass(model).context(context).input_tokens([40], [0]).sampler([0], Sampler.dist())
    (found,) = forward.execute()
    assert isinstance(found, calls.Probabilities)
    assert sum(found.probabilities) == pytest.approx(1)


def test_a_pass_reads_at_least_one_row_of_a_context(model: Model) -> None:  # F6, E1
    with pytest.raises(InvalidArgumentError, match="no indices"):
        ForwardPass(model).input_tokens([40], [0]).sampler([], Sampler.greedy())
    with pytest.raises(InvalidTypeError, match="context: got int"):
        ForwardPass(model).context(5)  # type: ignore[arg-type]


def test_a_pass_without_context_or_with_missing_positions_is_refused(model: Model) -> None:
    with pytest.raises(InvalidArgumentError, match="no context"):
        ForwardPass(model).execute()
    with pytest.raises(InvalidArgumentError, match="positions"):
        ForwardPass(model).input_tokens([1, 2], [0])


def test_a_pass_by_hand_takes_an_adapter_and_a_seed(host: ToyHost, model: Model) -> None:  # Y1, Z2
    context, adapter = Context(model), Adapter(model, calls.AdapterState(7, "style"))
    context.inner().reserve_working_pages(1)
    forward = ForwardPass(model).context(context).input_tokens([40], [0]).adapter(adapter)
    zo.adapter_seed(forward, -9)
    forward.execute()
    (sent,) = host.sent(calls.Forward)
    assert (sent.adapter, sent.zo_seed) == (7, -9)


def test_with_an_adapter_the_prompt_is_left_to_the_first_step(host: ToyHost, model: Model) -> None:  # Y1
    context, adapter = Context(model).user("Hi"), Adapter(model, calls.AdapterState(7, "style"))
    context.generate(Sampler.greedy(), max_tokens=2, adapter=adapter).tokens()
    assert [sent.adapter for sent in host.sent(calls.Forward)] == [7, 7]


def test_samplers_have_the_facades_names_and_defaults() -> None:  # Y1
    assert Sampler.greedy() == calls.Sampler.argmax()
    assert Sampler.top_p() == calls.Sampler.top_p(0.6, 0.95)
    assert Sampler.min_p() == calls.Sampler.min_p(0.6, 0.1)
    assert Sampler.multinomial() == calls.Sampler.multinomial(1.0)
    assert Sampler.dist(seed=5) == calls.Distribution(1.0, 0)
    assert Sampler.embedding() == calls.HiddenState()
    assert Sampler.top_k() == calls.Sampler.top_k(0.6, 50)
    assert Sampler.top_k_top_p() == calls.Sampler.top_k_top_p(0.6, 50, 0.95)
    assert Sampler.multinomial(seed=0).seed is None
    assert Sampler.multinomial(seed=3).seed == 3


def test_messages_are_waited_for(host: ToyHost, model: Model) -> None:
    host.inbox.append("hi")
    host.files.append(b"x")
    assert (session.receive(), session.receive_file()) == ("hi", b"x")
    with pytest.raises(SessionClosedError):
        session.receive()


async def test_inside_an_event_loop_it_is_refused(model: Model) -> None:
    context = Context(model).fill("abc")
    with pytest.raises(InvalidArgumentError, match="event loop"):
        context.flush()


def test_one_decoder_gives_all_events_in_order() -> None:  # Y1
    model = made(chat_templates.HERMES)
    tokens = ids(model, f"<think>hm</think>Hi {CALL}!<|im_end|>")
    whole = Decoder(model, reasoning=True, tool_use=True).feed(tokens)
    assert whole == [
        Event.Thinking("hm"),
        Event.ThinkingDone("hm"),
        Event.Text("Hi "),
        Event.ToolCallStart(),
        Event.ToolCall("f", '{"x":1}'),
        Event.Text("!"),
        Event.Done("Hi !"),
    ]
    assert Decoder(model).feed(tokens) == [Event.Text("Hi !"), Event.Done("Hi !")]


def test_each_thought_is_told_by_itself() -> None:  # Y1, D6
    model = made(chat_templates.HERMES)
    events = Decoder(model, reasoning=True).feed(ids(model, "<think>one</think>a<think>two</think>b<|im_end|>"))
    assert [event for event in events if isinstance(event, Event.ThinkingDone)] == [
        Event.ThinkingDone("one"),
        Event.ThinkingDone("two"),
    ]
