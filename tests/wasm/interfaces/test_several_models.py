"""A component with two models: each resource belongs to the model that it was made with."""

import pytest
import pytest_asyncio

from inferlet import rules
from pie_mlx import Engine, EngineSettings
from pie_mlx.errors import InvalidArgumentError
from pie_mlx.wasm.interfaces import context, inference, model, runtime, scheduling
from pie_mlx.wasm.interfaces.rules import Rule, drawn, join, sample

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine(tiny_model_directory):
    models = [
        EngineSettings(dummy=True, name="main", total_pages=16, load="lazy"),
        EngineSettings(str(tiny_model_directory("llama")), name="router", total_pages=16),
    ]
    async with Engine(models) as started:
        yield started


async def test_a_grammar_is_checked_with_a_model_of_the_component(engine):
    def program(input):
        router = model.Model.load("router")
        matcher = inference.Matcher(inference.Grammar.from_regex("[0-9]"), router.tokenizer())
        matcher.accept_tokens(router.tokenizer().encode("7"))
        return matcher.is_terminated(), runtime.sdk.loaded_models()

    assert await engine.run(program) == [True, ["router"]]


async def test_contexts_and_snapshots_are_those_of_their_model(engine):
    def program(input):
        found = []
        for one in (model.Model.load("router"), model.Model.load("main")):
            held = context.Context.create(one)
            held.save("kept")
            found += [context.Context.open(one, "kept").model().sdk.name, scheduling.balance(one) > 0]
            context.Context.delete(one, "kept")
        return found

    assert await engine.run(program) == ["router", True, "main", True]


async def test_rows_of_two_models_are_not_joined(engine):
    def program(input):
        held, other = (context.Context.create(model.Model.load(name)) for name in ("router", "main"))
        made, use = inference.ForwardPass(held.model()), rules.guidance()
        made.context(held)
        made.input_tokens([5], [0])
        sample(made, [0], ("multinomial", (0.0, 1)), Rule(use), (None, None))
        join(made, other, [5], None)
        output = made.execute()
        output.pollable().block()
        with pytest.raises(InvalidArgumentError, match="rows of two models, router and main"):
            drawn(output)
        return True

    assert await engine.run(program)
