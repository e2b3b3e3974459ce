"""The interfaces that components import, on a real engine: their functions are called as a component calls them."""

import asyncio

import pytest

from pie_mlx.errors import GrammarError, InvalidArgumentError, PieError, SnapshotNotFoundError
from pie_mlx.wasm.binding.writers import WitError
from pie_mlx.wasm.interfaces import (
    adapter,
    chat,
    context,
    inference,
    mcp,
    messaging,
    reasoning,
    runtime,
    scheduling,
    session,
    tool_use,
    zo,
)
from pie_mlx.wasm.wasi.poll import poll

pytestmark = pytest.mark.asyncio(loop_scope="package")
TOOL = '{"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}'


def computed(at, tokens, sampler, **more):
    """The slots of a pass over `tokens` at the end of a context, read at the last one."""
    length = at.committed_page_count() * at.tokens_per_page() + at.working_page_token_count()
    after = length + len(tokens)
    pages = -(-after // at.tokens_per_page()) - at.committed_page_count() - at.working_page_count()
    at.reserve_working_pages(max(pages, 0))
    made = inference.ForwardPass(at.model())
    made.context(at)
    made.input_tokens(tokens, list(range(length, after)))
    made.sampler([len(tokens) - 1], sampler)
    for name, value in more.items():
        getattr(made, name)(value)
    output = made.execute()
    output.pollable().block()
    slots, drafts, positions = output.get()
    assert (drafts, positions) == ([], [])
    return slots


GREEDY = ("multinomial", (0.0, 1))


async def test_a_context_is_filled_and_continued_token_by_token(run):
    def program(tiny):
        at, tokens, written = context.Context.create(tiny), tiny.tokenizer().encode("One, two, three,"), []
        for _ in range(20):
            ((kind, token),) = computed(at, tokens, GREEDY)
            assert kind == "token"
            tokens = [token]
            written.append(token)
        at.commit_working_pages(1)
        return written, at.committed_page_count(), tiny.tokenizer().decode(written)

    written, committed, _ = await run(program)
    assert len(written) == 20
    assert committed == 1


async def test_a_fork_and_a_snapshot_continue_alike(run):
    def program(tiny):
        at = context.Context.create(tiny)
        computed(at, tiny.tokenizer().encode("The cat"), GREEDY)
        fork = at.fork()
        at.save("kept")
        opened, taken = context.Context.open(tiny, "kept"), context.Context.take(tiny, "kept")
        with pytest.raises(SnapshotNotFoundError):
            context.Context.open(tiny, "kept")
        assert at.snapshot()
        return [computed(one, [5], GREEDY) for one in (at, fork, opened, taken)]

    first, *others = await run(program)
    assert others == [first] * 3


async def test_pages_are_released_and_tokens_truncated(run):
    def program(tiny):
        at = context.Context.create(tiny)
        computed(at, tiny.tokenizer().encode("The cat sat"), GREEDY)
        had = at.working_page_token_count()
        at.truncate_working_page_tokens(1)
        at.reserve_working_pages(2)
        at.release_working_pages(2)
        at.bid(0.5)
        at.suspend()
        with pytest.raises(PieError):
            at.commit_working_pages(7)
        return had - at.working_page_token_count()

    assert await run(program) == 1


@pytest.mark.parametrize(
    ("sampler", "kind"),
    [
        (("top-k", (0.5, 3)), "token"),
        (("top-p", (0.5, 0.9)), "token"),
        (("min-p", (0.5, 0.1)), "token"),
        (("top-k-top-p", (0.5, 3, 0.9)), "token"),
        (("dist", (1.0, 4)), "distribution"),
        (("raw-logits", None), "logits"),
        (("logprob", 5), "logprobs"),
        (("logprobs", [5, 6]), "logprobs"),
        (("entropy", None), "entropy"),
        (("embedding", None), "embedding"),
    ],
)
async def test_a_slot_is_answered_in_the_form_its_sampler_has(run, sampler, kind):
    slots = await run(lambda tiny: [one[0] for one in computed(context.Context.create(tiny), [5, 6], sampler)])
    assert slots == [kind]


async def test_a_multinomial_of_several_draws_fills_a_slot_for_each(run):
    slots = await run(lambda tiny: computed(context.Context.create(tiny), [5], ("multinomial", (1.0, 3))))
    assert [kind for kind, _ in slots] == ["token"] * 3


async def test_a_grammar_restricts_what_is_drawn(run):
    def program(tiny):
        grammar = inference.Grammar.from_regex("[0-9]+")
        matcher = inference.Matcher(grammar, tiny.tokenizer())
        ((_, token),) = computed(context.Context.create(tiny), [5], GREEDY, logit_mask=matcher.next_token_logit_mask())
        matcher.accept_tokens([token])
        ended = matcher.is_terminated()
        matcher.reset()
        return tiny.tokenizer().decode([token]), ended, grammar.to_string()

    digits, ended, text = await run(program)
    assert digits.isdigit()
    assert not ended
    assert text == "[0-9]+"


async def test_a_broken_grammar_is_refused_before_a_matcher_is_made(run):
    def program(tiny):
        for make, text in (
            (inference.Grammar.from_regex, "("),
            (inference.Grammar.from_json_schema, "{"),
            (inference.Grammar.from_ebnf, "start: ("),
        ):
            with pytest.raises(GrammarError):
                make(text)
        return inference.Grammar.json().to_string()

    assert await run(program) == "json"


async def test_input_of_other_kinds_is_refused(run):
    def program(tiny):
        made = inference.ForwardPass(tiny)
        for refused in (
            lambda: made.input_image(None, 0),
            lambda: made.input_audio(None, 0),
            lambda: made.input_speculative_tokens([1], [0]),
            lambda: made.input_tokens([1], []),
            made.execute,
        ):
            with pytest.raises(InvalidArgumentError):
                refused()
        made.output_speculative_tokens(True)
        made.pass_speculation(True)
        return tiny.default_system_speculation()

    assert await run(program) is False


async def test_an_unfinished_pass_is_none_and_a_dropped_one_is_cancelled(run):
    def program(tiny):
        at = context.Context.create(tiny)
        at.reserve_working_pages(1)
        made = inference.ForwardPass(tiny)
        made.context(at)
        made.input_tokens([5], [0])
        made.sampler([0], GREEDY)
        first = made.execute()
        assert first.get() is None
        del first
        at.destroy()
        return True

    assert await run(program)


async def test_turns_are_those_of_the_models_template(run):
    def program(tiny):
        text = tiny.tokenizer().decode
        joined = chat.system_user(tiny, "Be brief.", "Hello")
        assert text(joined) == text([*chat.system(tiny, "Be brief."), *chat.user(tiny, "Hello")])
        assert "Hi" in text([*chat.first_user(tiny, "Hi"), *chat.cue(tiny)])
        assert "No" in text([*chat.assistant(tiny, "No"), *chat.seal(tiny)])
        decoder = chat.create_decoder(tiny)
        found = [decoder.feed(tiny.tokenizer().encode("Hello")), decoder.feed([]), decoder.feed(chat.stop_tokens(tiny))]
        decoder.reset()
        return found

    assert await run(program) == [["delta", "Hello"], ["delta", ""], ["done", "Hello"]]


async def test_reasoning_and_tools_are_decoded_as_the_sdk_does(run):
    def program(tiny):
        thinking, calling = reasoning.create_decoder(tiny), tool_use.create_decoder(tiny)
        assert thinking.feed([]) == ("delta", "")
        assert calling.feed([]) == ("start", None)
        thinking.reset()
        calling.reset()
        tokens = tiny.tokenizer().encode('<tool_call>{"name": "weather", "arguments": {"city": "Oslo"}}</tool_call>')
        found = [calling.feed(tokens), calling.feed([])]
        assert tool_use.equip(tiny, [TOOL])
        assert tool_use.answer(tiny, "weather", "rain")
        return found, tool_use.format(tiny, [TOOL]) is None, tool_use.create_matcher(tiny, [TOOL]).is_terminated()

    found, _, ended = await run(program)
    assert found[0] == ["start", None]
    assert not ended


async def test_messages_go_both_ways(engine):
    heard = []

    def program(input):
        session.send("ready")
        future = session.receive()
        assert poll([future.pollable()]) == [0]
        session.send(future.get())
        file = session.receive_file()
        file.pollable().block()
        session.send_file(file.get())

    process = await engine.launch(program, on_message=heard.append, on_file=lambda data, name: heard.append(data))
    process.send("hello")
    process.send_file(b"bytes")
    await process.result()
    await asyncio.sleep(0)
    assert heard == ["ready", "hello", b"bytes"]


async def test_without_a_client_nothing_is_received(run):
    def program(tiny):
        future, file = session.receive(), session.receive_file()
        poll([future.pollable(), file.pollable()])
        file.pollable().block()
        return future.get(), file.get()

    assert await run(program) == [None, None]


async def test_topics_carry_messages_to_queues_and_subscribers(run):
    def program(tiny):
        subscription = messaging.subscribe("news")
        waiting = subscription.pollable()
        assert not waiting.ready()
        assert subscription.get() is None
        messaging.broadcast("news", "one")
        messaging.broadcast("news", "two")
        waiting.block()
        found = [subscription.get(), subscription.get(), subscription.get()]
        subscription.unsubscribe()
        dropped = messaging.pull("work")
        dropped.pollable()
        del dropped
        pulled = messaging.pull("work")
        messaging.push("work", "job")
        pulled.pollable().block()
        return [*found, pulled.get()]

    assert await run(program) == ["one", "two", None, "job"]


async def test_children_end_with_their_value_or_their_error(run, tmp_path):
    good, bad = tmp_path / "good.py", tmp_path / "bad.py"
    good.write_text("async def main(input):\n    return {'n': input['n']}\n")
    bad.write_text("async def main(input):\n    raise ValueError('no')\n")

    def program(tiny):
        children = [runtime.launch(str(path), '{"n": 3}') for path in (good, bad)]
        assert children[0].pid() != children[1].pid()
        for child in children:
            child.pollable().block()
        value, error = (child.get() for child in children)
        children[0].cancel()
        assert isinstance(error, WitError)
        return value

    assert await run(program) == '{"n": 3}'


async def test_servers_answer_with_their_own_errors(run):
    def program(tiny):
        assert mcp.available_servers() == []
        with pytest.raises(WitError) as raised:
            mcp.connect("nowhere")
        code, message, data = raised.value.value
        return code, "nowhere" in message, data

    assert await run(program) == [-1, True, None]


async def test_the_market_and_the_runtime_are_read(run):
    def program(tiny):
        at = context.Context.create(tiny)
        figures = [scheduling.price(), scheduling.rent(at), scheduling.dividend(tiny), scheduling.latency(at)]
        assert scheduling.balance(tiny) > 0
        ids, spelled = tiny.tokenizer().vocabs()
        special, _ = tiny.tokenizer().special_tokens()
        assert len(ids) == len(spelled) > len(special) > 0
        tiny.tokenizer().split_regex()
        return figures, runtime.sdk.models()

    figures, models = await run(program)
    assert all(isinstance(figure, float) for figure in figures)
    assert models == ["pie-tiny"]


async def test_an_adapter_evolves_and_seeds_a_pass(run):
    def program(tiny):
        made = adapter.Adapter.create(tiny, "mine")
        zo.initialize(made, 2, 4.0, 2, 0.5, 0.01)
        at, found = context.Context.create(tiny), []
        forward = inference.ForwardPass(tiny)
        at.reserve_working_pages(1)
        forward.context(at)
        forward.input_tokens([5], [0])
        forward.sampler([0], GREEDY)
        forward.adapter(made)
        zo.adapter_seed(forward, 7)
        output = forward.execute()
        output.pollable().block()
        found.append(output.get() is not None)
        zo.update(made, [1.0, 0.0], [7, 8], 0.1)
        copy = made.fork("copy")
        with pytest.raises(PieError):
            copy.load("/nowhere")
        copy.destroy()
        made.destroy()
        return [*found, adapter.Adapter.open(tiny, "mine")]

    assert await run(program) == [True, None]
