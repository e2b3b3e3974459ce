"""A component draws with a rule what a program in Python draws with it, and is told the same mistakes."""

import pytest
from wasmtime.component import Component

from inferlet import Context, Model, Sampler, rule, rules
from inferlet.rules import Number, Row, Value, Vector
from pie_mlx.calls import RuleUse
from pie_mlx.errors import AdapterNotFoundError, BatchFailedError, InvalidArgumentError
from pie_mlx.wasm.component import RunningComponent, new_engine
from pie_mlx.wasm.interfaces import adapter, context, inference
from pie_mlx.wasm.interfaces.rules import Rule, drawn, join, sample, up_to
from tests.wasm.components import wasm
from tests.wasm.ruled import ruled as component_with_rule

pytestmark = pytest.mark.asyncio(loop_scope="package")

PROMPT, OTHER_PROMPT = "Once upon a time", "The recipe says"
GREEDY, RANDOM = ("multinomial", (0.0, 1)), ("multinomial", (1.0, 1))
PLAIN = (None, None)
STEPS = 12


@rule
def unsure(row: Row, nats: Number = 3.0) -> Value:
    return row.entropy > nats


@rule
def leaning(row: Row, towards: Vector) -> Value:
    return abs(row.hidden_state.dot(towards)) > 0.0


@rule
def cooling(row: Row, temperature: Number, rate: Number) -> tuple[Value, dict[str, Number]]:
    return row.logits / temperature, {"temperature": temperature * rate}


@rule
def broken(row: Row) -> Value:
    return row.logits * 0.0 / 0.0


def numbers(**values):
    return [(name, ("number", value)) for name, value in values.items()]


def brought(use):
    """A rule of Python as a component brings it: bytes, and values by name."""
    return Rule.create(use.code, numbers(**use.parameters, **use.state))


def at(tiny, tokens):
    """A context with room, which holds all of `tokens` but the last, and that one."""
    made = context.Context.create(tiny)
    made.reserve_working_pages(4)
    if tokens[:-1]:
        outcome(begun(made, tokens[:-1]))
    return made, tokens[-1:]


def begun(held, tokens):
    """A pass of these tokens at the end of a context."""
    made, length = inference.ForwardPass(held.model()), held.counters.sequence_length(held.tokens_per_page())
    made.context(held)
    made.input_tokens(tokens, list(range(length, length + len(tokens))))
    return made


def outcome(made):
    output = made.execute()
    output.pollable().block()
    return drawn(output)


def ruled(held, tokens, use, sampler=GREEDY, options=PLAIN):
    made = begun(held, tokens)
    sample(made, [len(tokens) - 1], sampler, use, options)
    return made


def in_python(use, sampler, **options):
    """The tokens of the Python SDK."""

    async def main(input):
        model = Model.load("pie-tiny")
        with Context(model) as held, Context(model) as other:
            held.append(model.tokenizer().encode(PROMPT))
            others = {"others": [other.append(model.tokenizer().encode(OTHER_PROMPT))]} if use.graph.others else {}
            generator = held.generate(
                sampler.ruled(use), **others, max_tokens=STEPS, stop=[], auto_flush=False, **options
            )
            return await generator.collect_tokens()

    return main


async def test_tokens_are_those_of_the_same_rule_in_python(run, engine):
    use = rules.eta(epsilon=0.01)

    def program(tiny):
        held, tokens = at(tiny, tiny.tokenizer().encode(PROMPT))
        written = []
        for _ in range(STEPS):
            (found,) = outcome(ruled(held, tokens, brought(use), RANDOM, (7, None)))
            tokens = found[0]
            written += tokens
        return written

    assert await run(program) == await engine.run(in_python(use, Sampler.multinomial(1.0, seed=7)))


async def test_states_are_carried_by_the_component(run, engine):
    use = rules.mirostat(tau=2.0, rate=0.5)

    def program(tiny):
        held, tokens = at(tiny, tiny.tokenizer().encode(PROMPT))
        carrying, written = brought(use), []
        for _ in range(STEPS):
            ((tokens, states, _, _),) = outcome(ruled(held, tokens, carrying, RANDOM, (7, None)))
            carrying = carrying.after(states[-1])
            written += tokens
        ((name, value),) = carrying.states()
        return written, name, value != use.state[name]

    expected = await engine.run(in_python(use, Sampler.multinomial(1.0, seed=7)))
    assert await run(program) == [expected, "mu", True]


async def test_one_pass_goes_on_as_far_as_it_may(run, engine):
    use = rules.dry(multiplier=4.0, allowed=1.0)

    def program(tiny):
        held, tokens = at(tiny, tiny.tokenizer().encode(PROMPT))
        made = ruled(held, tokens, brought(use))
        up_to(made, STEPS, [])
        ((written, states, ended, kept),) = outcome(made)
        length = held.counters.sequence_length(held.tokens_per_page())
        return written, states, ended, kept, length - len(tiny.tokenizer().encode(PROMPT))

    tokens = await engine.run(in_python(use, Sampler.argmax()))
    assert await run(program) == [tokens, [], False, STEPS - 1, STEPS - 1]


async def test_a_pass_ends_at_a_stop_token_and_where_its_rule_ends_the_text(run, engine):
    tokens = await engine.run(in_python(rules.min_p(), Sampler.argmax()))

    def program(tiny):
        plain = brought(rules.min_p())
        found = []
        for made, stops in ((plain, tokens[2:3]), (plain.until(brought(unsure(nats=-1.0))), [])):
            held, last = at(tiny, tiny.tokenizer().encode(PROMPT))
            going_on = ruled(held, last, made)
            up_to(going_on, STEPS, stops)
            ((written, _, ended, _),) = outcome(going_on)
            found.append([written, ended])
        return found

    assert await run(program) == [[tokens[:3], False], [tokens[:1], True]]


async def test_a_value_may_change_between_steps(run):
    def program(tiny):
        held, tokens = at(tiny, tiny.tokenizer().encode(PROMPT))
        made = brought(unsure(nats=100.0))
        found = [outcome(ruled(held, tokens, one))[0] for one in (made, made.changed(numbers(nats=-1.0)))]
        return [ended for _, _, ended, _ in found]

    assert await run(program) == [False, True]


async def test_vectors_reach_the_rule(run):
    use = leaning(towards=[0.0])

    def program(tiny):
        held, tokens = at(tiny, tiny.tokenizer().encode(PROMPT))
        ended = []
        for vector in ([0.0] * 192, [1.0] * 192):
            given = Rule.create(use.code, [("towards", ("vector", vector))])
            ended.append(outcome(ruled(held, tokens, given))[0][2])
        with pytest.raises(InvalidArgumentError, match="vector towards has 1 numbers, a hidden state of pie-tiny 192"):
            outcome(ruled(held, tokens, given.changed([("towards", ("vector", [1.0]))])))
        return ended

    assert await run(program) == [False, True]


async def test_rows_of_another_context_are_joined(run, engine):
    use = rules.guidance(scale=1.5)

    def program(tiny):
        words = tiny.tokenizer()
        (held, tokens), (other, last) = at(tiny, words.encode(PROMPT)), at(tiny, words.encode(OTHER_PROMPT))
        written, lengths = [], []
        for most in (1, STEPS - 1):
            made = ruled(held, tokens, brought(use))
            join(made, other, last, None)
            up_to(made, most, [])
            ((more, _, _, kept),) = outcome(made)
            tokens = last = more[kept:]
            written += more
            lengths.append([one.counters.sequence_length(one.tokens_per_page()) for one in (held, other)])
        return written, [after - before for before, after in zip(*lengths, strict=True)]

    tokens = await engine.run(in_python(use, Sampler.argmax()))
    assert await run(program) == [tokens, [STEPS - 1, STEPS - 1]]


async def test_another_context_has_an_adapter_of_its_own(run):
    def program(tiny):
        held, tokens = at(tiny, tiny.tokenizer().encode(PROMPT))
        other, last = at(tiny, tiny.tokenizer().encode(OTHER_PROMPT))
        amateur = adapter.Adapter.create(tiny, "amateur")
        made = ruled(held, tokens, brought(rules.contrastive()))
        join(made, other, last, amateur)
        amateur.destroy()
        with pytest.raises(AdapterNotFoundError):
            outcome(made)
        return True

    assert await run(program)


async def test_repetitions_end_at_breakers(run):
    def program(tiny):
        made = brought(rules.dry()).broken_at([9, 3, 9])
        return list(made.use.graph.breakers)

    assert await run(program) == [3, 9]


async def test_tokens_count_as_generated_from_a_slot_on(run):
    @rule
    def ends_once_generated(row: Row) -> Value:
        return row.generated.max() > 0.5

    def program(tiny):
        prompt = tiny.tokenizer().encode(PROMPT)
        held, tokens = at(tiny, prompt)
        made, slots = brought(ends_once_generated()), (0, len(prompt) + 1)
        return [outcome(ruled(held, tokens, made, options=(None, since)))[0][2] for since in slots]

    assert await run(program) == [True, False]


async def test_a_component_brings_a_rule_as_bytes(run, engine):
    use = cooling(temperature=2.0, rate=0.8)
    tokens = await engine.run(in_python(use, Sampler.multinomial(1.0, seed=3)))

    def program(tiny):
        compiler = new_engine()
        text = component_with_rule(use.code, STEPS, ["pie-tiny"])
        made = RunningComponent(compiler, Component(compiler, wasm(text)))
        return made.call("pie:test/run", "run", PROMPT), [True, tiny.tokenizer().decode(tokens) + "\n"]

    found, expected = await run(program)
    assert found == expected


async def test_mistakes_are_those_of_other_languages(run):
    def program(tiny):
        held, tokens = at(tiny, tiny.tokenizer().encode(PROMPT))
        made, steered, guided = (brought(use()) for use in (rules.min_p, rules.mirostat, rules.guidance))
        for words, use in (
            ("parameters missing or unknown: p", Rule.create(made.use.code, [])),
            ("parameters missing or unknown: q", made.changed(numbers(q=1.0))),
            ("states missing or unknown: mu", Rule(RuleUse(steered.use.code, steered.use.parameters))),
            ("it reads rows of 1 other contexts", guided),
        ):
            with pytest.raises(InvalidArgumentError, match=words):
                outcome(ruled(held, tokens, use))
        for words, attempt in (
            ("it is no graph of operations", lambda: Rule.create(b"no rule", [])),
            ("2 states, it carries 1", lambda: steered.after([1.0, 2.0])),
            ("it ends no text", lambda: made.until(made)),
            ("dist draws no token", lambda: sample(begun(held, tokens), [0], ("dist", (1.0, 4)), made, PLAIN)),
            ("up-to: 0", lambda: up_to(begun(held, tokens), 0, [])),
        ):
            with pytest.raises(InvalidArgumentError, match=words):
                attempt()
        twice = ruled(held, tokens, guided)
        join(twice, held, tokens, None)
        with pytest.raises(InvalidArgumentError, match="at most 9 different ones"):
            outcome(twice)
        with pytest.raises(BatchFailedError, match="broken"):
            outcome(ruled(held, tokens, brought(broken())))
        return len(outcome(ruled(held, tokens, made))[0][0])

    assert await run(program) == 1
