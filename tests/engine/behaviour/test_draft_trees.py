"""Several guesses at one position, verified in one pass."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inferlet import Context, Sampler
from tests.engine.behaviour.test_speculation import GREEDY, generated
from tests.engine.running import Running, finished, in_context, running

pytestmark = pytest.mark.usefixtures("random_model")


@dataclass
class Branching:
    """Drafts a tree of each step's plan: pairs of a token and the draft it follows."""

    context: Context
    plan: list[list[tuple[int, int]]]
    accepted: list[list[int]] = field(default_factory=list)
    wrong: list[int] = field(default_factory=list)
    position: int = 0

    def draft(self) -> tuple[list[int], list[int], list[int]]:
        tree = self.plan.pop(0) if self.plan else []
        positions: list[int] = []
        for _, parent in tree:
            positions.append(self.position if parent < 0 else positions[parent] + 1)
        return [token for token, _ in tree], positions, [parent for _, parent in tree]

    def accept(self, tokens: list[int]) -> None:
        self.accepted.append(tokens)
        self.position += len(tokens)

    def rollback(self, n: int) -> None:
        self.wrong.append(n)

    def reset(self) -> None:
        self.position = self.context.seq_len + len(self.context.buffer())


@pytest.mark.parametrize("right_first", [True, False])
async def test_either_branch_may_be_right(engine: Running, right_first: bool) -> None:  # V2
    prompt = engine.prompt(20, 30)
    truth = (await generated(engine, prompt, {"max_tokens": 12})).tokens
    right = [(truth[0], -1), (truth[1], 0), (truth[2], 1)]
    wrong = [(truth[0] ^ 1, -1), (truth[1], 0)]
    first, second = (right, wrong) if right_first else (wrong, right)
    tree = first + [(token, parent if parent < 0 else parent + len(first)) for token, parent in second]
    with Context(engine.model) as context:
        context.append(prompt)
        speculator = Branching(context, [tree])
        generator = context.generate(GREEDY, max_tokens=12, stop=[], auto_flush=False, speculator=speculator)
        assert await generator.collect_tokens() == truth
        assert context.seq_len + len(context.buffer()) == 20 + 12
    assert (speculator.accepted[0], speculator.wrong) == (truth[:4], [2])


async def test_a_branch_that_lies_elsewhere_is_computed_again(engine: Running) -> None:
    prompt = engine.prompt(20, 31)
    truth = (await generated(engine, prompt, {"max_tokens": 3})).tokens
    with Context(engine.model) as context:
        context.append(prompt)
        speculator = Branching(context, [[(truth[0] ^ 1, -1), (truth[0], -1), (truth[1], 1)]])
        generator = context.generate(GREEDY, max_tokens=3, stop=[], auto_flush=False, speculator=speculator)
        assert await generator.collect_tokens() == truth
        assert (context.seq_len, context.buffer()) == (20, truth)


async def test_a_sliding_window_gets_the_first_branch_only(tiny_model_directory: Callable[[str], Path]) -> None:
    with running(model=str(tiny_model_directory("gemma3_text"))) as windowed:
        prompt = list(range(5, 45))
        truth = (await generated(windowed, prompt, {"max_tokens": 6})).tokens
        with Context(windowed.model) as context:
            context.append(prompt)
            speculator = Branching(context, [[(truth[0], -1), (truth[1], 0), (truth[0] ^ 1, -1), (truth[2], 1)]])
            generator = context.generate(GREEDY, max_tokens=6, stop=[], auto_flush=False, speculator=speculator)
            output = await (await anext(generator)).execute()
            assert output.raw is not None
            assert (output.raw.drafted, output.tokens) == (2, truth[:3])
            assert await generator.collect_tokens() == truth[3:]


@given(
    seed=st.integers(0, 20),
    shape=st.lists(st.tuples(st.booleans(), st.integers(-1, 6)), max_size=8),
    sampler=st.sampled_from([GREEDY, Sampler.multinomial(0.8, seed=4)]),
)
@settings(max_examples=10)
def test_any_tree_gives_what_plain_decoding_gives(
    shared_engine: Running, seed: int, shape: list[tuple[bool, int]], sampler: Sampler
) -> None:  # T38
    async def compare() -> None:
        prompt = shared_engine.prompt(14, seed)
        options = {"max_tokens": 20, "sampler": sampler}
        plain = await generated(shared_engine, prompt, options)

        def trees(context: Context) -> Branching:
            plan: list[list[tuple[int, int]]] = []
            for start in range(0, 20, 3):
                tree: list[tuple[int, int]] = []
                depths: list[int] = []
                for is_right, wanted in shape:
                    parent = min(wanted, len(tree) - 1)
                    depth = 0 if parent < 0 else depths[parent] + 1
                    token = plain.tokens[min(start + depth, 19)]
                    tree.append((token if is_right else token ^ 1, parent))
                    depths.append(depth)
                plan.append(tree)
            return Branching(context, plan)

        outcome = await generated(shared_engine, prompt, options, speculator=trees)
        assert outcome.tokens == plain.tokens
        assert outcome.length + len(outcome.buffer) == plain.length + len(plain.buffer)

    with shared_engine.process() as host:
        finished(in_context(Running(shared_engine.core, shared_engine.events, host), compare()))
    shared_engine.check_books()
