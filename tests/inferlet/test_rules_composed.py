"""Rules together with a grammar, with drafts, and with both: a computation on the host draws the same tokens."""

import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import pytest_asyncio

from inferlet import Context, HiddenState, Logits, Model, Regex, Sampler, rule, rules, runtime
from inferlet.rules import Row, RuleUse, Value, Vector
from pie_mlx import Engine
from pie_mlx.calls import MOST_DRAWS
from pie_mlx.engine.model.runner.randomness import uniform
from tests.engine.model.rules.test_run import REFERENCES
from tests.inferlet._generation.test_others import LIBRARY

pytestmark = pytest.mark.asyncio(loop_scope="module")

Doubles = npt.NDArray[np.float64]

PROMPT, OTHER = "a list: one two three, one two three, one two", "Once there was a small dog. It"
ALPHABET = "[a-m ,]"
LENGTH, STREAM, GATE = 20, 11, 2.0


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine(tiny_model_directory: Callable[[str], Path]) -> AsyncIterator[Engine]:
    async with Engine(str(tiny_model_directory("qwen3")), total_pages=256, seed=7) as engine:
        yield engine


@dataclass
class Text:
    """What was drawn, the tokens of the text that it continues, and which tokens its grammar allows."""

    model: Model
    prompt: list[int]
    drawn: list[int]
    allowed: npt.NDArray[np.bool_]

    async def rows(self, prompt: list[int], *, masked: bool = True) -> list[Doubles]:
        """The rows after another prompt and the drawn tokens, one for each of these."""
        step = Context(self.model).forward().input([*prompt, *self.drawn])
        probes = [step.probe(len(prompt) - 1 + place, Logits()) for place in range(len(self.drawn))]
        output = await step.execute()
        found = [np.frombuffer(output.logits(probe) or b"", np.float32).astype(np.float64) for probe in probes]
        return [np.where(self.allowed, row, -np.inf) for row in found] if masked else found

    async def hidden_states(self) -> Doubles:
        """Of the same rows."""
        step = Context(self.model).forward().input([*self.prompt, *self.drawn])
        probes = [step.probe(len(self.prompt) - 1 + place, HiddenState()) for place in range(len(self.drawn))]
        output = await step.execute()
        return np.array([output.hidden_state(probe) for probe in probes])

    def check(self, changed: list[Doubles]) -> None:
        for counter, (row, token) in enumerate(zip(changed, self.drawn, strict=True)):
            running = np.cumsum(np.exp(row - np.logaddexp.reduce(row)))
            assert token == np.searchsorted(running, uniform(STREAM, counter, 0), side="right"), counter


class Guesses:
    """Drafts three tokens of a known text at a time, of which every fifth is wrong."""

    def __init__(self, context: Context, truth: list[int]) -> None:
        self.guesses = [token ^ (place % 5 == 4) for place, token in enumerate(truth)]
        self.context, self.done, self.position = context, 0, 0

    def reset(self) -> None:
        self.position = self.context.seq_len + len(self.context.buffer())

    def draft(self) -> tuple[list[int], list[int]]:
        tokens = self.guesses[self.done : self.done + 3]
        return tokens, list(range(self.position, self.position + len(tokens)))

    def accept(self, tokens: list[int]) -> None:
        self.done += len(tokens)
        self.position += len(tokens)

    def rollback(self, n: int) -> None:
        """It drafts from what was accepted."""


def repeated(text: list[int]) -> dict[int, int]:
    """By the token that follows, the longest part of the text's end that occurred before it."""
    found: dict[int, int] = {}
    for end in range(len(text) - 1):
        length = 0
        while length <= end and text[end - length] == text[-1 - length]:
            length += 1
        found[text[end + 1]] = max(found.get(text[end + 1], 0), length)
    return found


async def dry(text: Text) -> list[Doubles]:
    changed = await text.rows(text.prompt)
    for place, row in enumerate(changed):
        for token, length in repeated([*text.prompt, *text.drawn[:place]]).items():
            row[token] -= 3.0 * 1.75 ** (length - 1) if length >= 1 else 0.0
    return changed


async def entropy_gate(text: Text) -> list[Doubles]:
    changed, wait = await text.rows(text.prompt), 0
    for row, token in zip(changed, text.drawn, strict=True):
        logs = (row - np.logaddexp.reduce(row))[text.allowed]
        if wait <= 0 and -(np.exp(logs) * logs).sum() > 0.5:
            row[gate(text.model)] = row.max() + GATE
        wait = 5 if token == gate(text.model) else wait - 1
    return changed


def of_two(name: str) -> tuple[Callable[[Model], RuleUse], Callable[[Text], Any]]:
    """A rule of the library that joins two contexts, and its formula."""
    use, joined = LIBRARY[name]

    async def changed(text: Text) -> list[Doubles]:
        rows = await text.rows(text.prompt)
        others = await text.rows(text.model.tokenizer().encode(OTHER), masked=False)
        with np.errstate(invalid="ignore"):
            return [np.where(text.allowed, joined(*both), -np.inf) for both in zip(rows, others, strict=True)]

    return lambda _: use, changed


@rule
def two_classes(row: Row, first: Vector, second: Vector) -> Value:
    """Warm or cold, by the class that the hidden state is nearer to."""
    return row.logits * (1.0 + (row.hidden_state.dot(first) - row.hidden_state.dot(second)).exp()) / 2.0


def directions(model: Model) -> Doubles:
    return np.random.default_rng(1).standard_normal((2, model.info.hidden_size)) / 100


async def hidden_state(text: Text) -> list[Doubles]:
    nearness = await text.hidden_states() @ directions(text.model).T
    factors = (1 + np.exp(nearness[:, 0] - nearness[:, 1])) / 2
    return [row * factor for row, factor in zip(await text.rows(text.prompt), factors, strict=True)]


def of_formula(name: str, **parameters: float) -> tuple[Callable[[Model], RuleUse], Callable[[Text], Any]]:
    """A rule of the library that reads nothing but the allowed logits, and its formula."""
    formula, _ = REFERENCES[name]

    async def changed(text: Text) -> list[Doubles]:
        rows = await text.rows(text.prompt)
        for row in rows:
            row[text.allowed] = formula(row[text.allowed], 0, **parameters)
        return rows

    return lambda _: getattr(rules, name)(**parameters), changed


async def xtc(text: Text) -> list[Doubles]:
    changed = await text.rows(text.prompt)
    for counter, row in enumerate(changed):
        probabilities = np.exp(row - np.logaddexp.reduce(row))
        over = np.flatnonzero(probabilities >= 0.05)
        if len(over) > 1 and uniform(STREAM, counter, MOST_DRAWS) < 0.5:
            row[over[probabilities[over] > probabilities[over].min()]] = -np.inf
        row[np.argsort(-row, kind="stable")[256 - len(over) :]] = -np.inf
    return changed


async def watermark(text: Text) -> list[Doubles]:
    changed = await text.rows(text.prompt)
    for row, previous in zip(changed, [text.prompt[-1], *text.drawn], strict=False):
        tokens = np.flatnonzero(text.allowed)
        row[tokens] += [3.0 * rules.green_share([previous, token], 99) for token in tokens.tolist()]
    return changed


async def mirostat(text: Text) -> list[Doubles]:
    changed, mu = await text.rows(text.prompt), 4.0
    for row, token in zip(changed, text.drawn, strict=True):
        surprise = (np.logaddexp.reduce(row) - row) / np.log(2)
        row[(surprise > mu) & (surprise > surprise.min())] = -np.inf
        mu -= 0.3 * ((np.logaddexp.reduce(row) - row[token]) / np.log(2) - 2.0)
    return changed


def gate(model: Model) -> int:
    return model.tokenizer().encode(" a")[0]


RULES: dict[str, tuple[Callable[[Model], RuleUse], Callable[[Text], Any]]] = {
    "dry": (lambda _: rules.dry(multiplier=3.0, allowed=1.0), dry),
    "entropy_gate": (lambda model: rules.entropy_gate(gate(model), nats=0.5, bonus=GATE, pause=5.0), entropy_gate),
    **{name: of_two(name) for name in LIBRARY},
    "min_p": of_formula("min_p", p=0.1),
    "top_n_sigma": of_formula("top_n_sigma", n=1.5),
    "eta": of_formula("eta", epsilon=0.01),
    "typical": of_formula("typical", mass=0.8),
    "entropy_temperature": of_formula("entropy_temperature", nats=1.0, unsure=1.4, sure=0.6),
    "xtc": (lambda _: rules.xtc(threshold=0.05, probability=0.5), xtc),
    "watermark": (lambda _: rules.watermark(key=99, delta=3.0), watermark),
    "mirostat": (lambda _: rules.mirostat(2.0, 0.3), mirostat),
    "hidden_state": (
        lambda model: two_classes(first=directions(model)[0].tolist(), second=directions(model)[1].tolist()),
        hidden_state,
    ),
}


def allowed(model: Model, is_restricted: bool) -> npt.NDArray[np.bool_]:
    pieces = [model.tokenizer().decode([token]) for token in range(model.info.vocabulary_size)]
    return np.array([not is_restricted or re.fullmatch(f"{ALPHABET}+", piece) is not None for piece in pieces])


@pytest.mark.parametrize(
    ("name", "is_restricted", "is_drafted"),
    [
        ("dry", True, False),
        ("dry", False, True),
        ("dry", True, True),
        ("entropy_gate", True, False),
        ("entropy_gate", False, True),
        ("entropy_gate", True, True),
        *[(name, True, False) for name in LIBRARY],
        *[(name, True, True) for name in (*REFERENCES, "mirostat")],
        ("hidden_state", True, False),
        ("hidden_state", False, True),
        ("hidden_state", True, True),
    ],
)
async def test_tokens_are_those_of_a_computation_on_the_host(
    engine: Engine, name: str, is_restricted: bool, is_drafted: bool
) -> None:
    ruled, changed = RULES[name]

    async def main(input: Any) -> None:
        model = Model.load(runtime.models()[0])
        prompt = model.tokenizer().encode(PROMPT)
        sampler = Sampler.multinomial(1.0, seed=STREAM).ruled(ruled(model))
        options: dict[str, Any] = {"max_tokens": LENGTH, "stop": [], "auto_flush": False}
        if is_restricted:
            options["constrain"] = Regex(f"{ALPHABET}{{400}}")  # more than is drawn: no token may end it
        others = [Context(model).append(OTHER)] if name in LIBRARY else []
        drawn = await Context(model).append(prompt).generate(sampler, others=others, **options).collect_tokens()
        text = Text(model, prompt, drawn, allowed(model, is_restricted))
        assert len(drawn) == LENGTH
        text.check(await changed(text))
        if is_drafted:
            context, steps, tokens = Context(model).append(prompt), 0, list[int]()
            async for step in context.generate(sampler, speculator=Guesses(context, drawn), **options):
                tokens += (await step.execute()).tokens
                steps += 1
            assert tokens == drawn
            assert steps < LENGTH / 2

    await engine.run(main)
