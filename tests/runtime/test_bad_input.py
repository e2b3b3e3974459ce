"""Bad input ends in a typed error with one clear line, and no page is lost."""

import json
import shutil

import pytest

import pie_mlx.engine.model
from inferlet import Context, Model, Sampler, runtime
from pie_mlx import Engine
from pie_mlx.errors import (
    ContextReleasedError,
    InvalidArgumentError,
    LaunchError,
    ModelLoadError,
    ModelNotFoundError,
    OutOfPagesError,
    TemplateError,
)

PAGES = 8
PIE_TINY = "embedded/pie-tiny"


def fresh_context():
    return Context(Model.load(runtime.models()[0]))


async def in_a_filled_context(use):
    context = fresh_context()
    context.append(range(20))
    await context.flush()
    return await use(context)


async def prompt_longer_than_the_pool(context):
    context.append([1] * 16 * (PAGES + 1))
    await context.flush()


async def many_contexts_larger_than_the_pool_together(context):
    forks = [context.fork() for _ in range(2)]
    for fork in forks:
        fork.append([1] * 16 * (PAGES + 1))
        await fork.flush()


async def negative_temperature(context):
    await context.generate(Sampler.top_p(-0.5, 0.9), max_tokens=1).collect_tokens()


async def token_outside_the_vocabulary(context):
    context.append([10**9])


async def negative_token(context):
    await context.forward().input([-1]).execute()


async def attention_row_longer_than_the_context(context):
    await context.forward().input([1]).attention_mask([[0, 500]]).execute()


async def attention_rows_that_do_not_match_the_input(context):
    await context.forward().input([1, 2]).attention_mask([[0, 21]]).execute()


async def negative_run_in_a_mask(context):
    await context.forward().input([1]).attention_mask([[0, -3]]).execute()


async def pass_without_input(context):
    await context.forward().execute()


async def sample_beyond_the_input(context):
    fwd = context.forward().input([1])
    fwd.sample([1], Sampler.argmax())
    await fwd.execute()


async def use_after_release(context):
    context.release()
    context.append([1])
    await context.flush()


BAD = {
    prompt_longer_than_the_pool: OutOfPagesError,
    many_contexts_larger_than_the_pool_together: OutOfPagesError,
    negative_temperature: InvalidArgumentError,
    token_outside_the_vocabulary: InvalidArgumentError,
    negative_token: InvalidArgumentError,
    attention_row_longer_than_the_context: InvalidArgumentError,
    attention_rows_that_do_not_match_the_input: InvalidArgumentError,
    negative_run_in_a_mask: InvalidArgumentError,
    pass_without_input: InvalidArgumentError,
    sample_beyond_the_input: InvalidArgumentError,
    use_after_release: ContextReleasedError,
}


@pytest.fixture
async def small_engine():
    async with Engine(dummy=True, total_pages=PAGES, seed=1) as engine:
        yield engine


def assert_one_clear_line(error):
    assert ": " in error.message
    assert "\n" not in error.message
    assert len(error.message) < 300


@pytest.mark.parametrize("use", BAD, ids=lambda use: use.__name__)
async def test_a_mistake_in_a_program_is_a_typed_error_and_costs_no_page(small_engine, use):
    async def main(input):
        await in_a_filled_context(use)

    before = await small_engine.page_usage()
    with pytest.raises(BAD[use]) as caught:
        await small_engine.run(main)
    assert_one_clear_line(caught.value)
    after = await small_engine.page_usage()
    assert (before.used, after.used) == (0, 0)


@pytest.mark.parametrize("use", [use for use in BAD if use is not use_after_release], ids=lambda use: use.__name__)
async def test_a_mistake_that_is_caught_changes_nothing(small_engine, use):
    async def main(input):
        async def survive(context):
            held = context.inner().committed_page_count(), context.seq_len
            with pytest.raises(BAD[use]):
                await use(context)
            assert (context.inner().committed_page_count(), context.seq_len) == held
            child = fresh_context()
            child.append(range(20))
            return len(await child.generate(Sampler.argmax(), max_tokens=2, auto_flush=False).collect_tokens())

        return await in_a_filled_context(survive)

    assert await small_engine.run(main) == 2  # E3


async def test_an_exception_inside_a_program_costs_no_page(small_engine):
    async def main(input):
        async def use(context):
            main.kept = context
            raise KeyError("inside")

        await in_a_filled_context(use)

    with pytest.raises(KeyError):
        await small_engine.run(main)
    assert (await small_engine.page_usage()).used == 0  # E7


@pytest.mark.parametrize("source", ["x = 1\n", "def main(): ...\n", "async def main(): ...\n", "async def main(:\n"])
async def test_a_program_without_a_main_to_call_costs_no_page(small_engine, tmp_path, source):
    (tmp_path / "a.py").write_text(source)
    with pytest.raises(LaunchError) as caught:
        await small_engine.run(tmp_path / "a.py")
    assert_one_clear_line(caught.value)
    assert (await small_engine.page_usage()).used == 0


@pytest.fixture
def model_copy(tmp_path):
    """pie-tiny in a directory that may be damaged."""
    source = next(iter(pie_mlx.engine.model.__path__))
    return shutil.copytree(f"{source}/{PIE_TINY}", tmp_path / "model")


def change_config(directory, **changes):
    path = directory / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def truncate_weights(directory):
    path = directory / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-1000])


def scramble_weights(directory):
    (directory / "model.safetensors").write_bytes(b"not weights" * 100)


def remove_weights(directory):
    (directory / "model.safetensors").unlink()


def unknown_architecture(directory):
    change_config(directory, model_type="perceptron")


def shapes_that_do_not_fit(directory):
    change_config(directory, hidden_size=64)


def broken_config(directory):
    (directory / "config.json").write_text("{")


def no_tokenizer(directory):
    for file in directory.glob("tokenizer*"):
        file.unlink()


def a_tokenizer_of_few_tokens(directory):
    path = directory / "tokenizer.json"
    document = json.loads(path.read_text())
    kept = dict(list(document["model"]["vocab"].items())[:60])
    path.write_text(json.dumps(document | {"model": document["model"] | {"vocab": kept, "merges": []}}))


def broken_template(directory):
    (directory / "chat_template.jinja").write_text("{% for %}")


DAMAGES = {
    truncate_weights: ModelLoadError,
    scramble_weights: ModelLoadError,
    remove_weights: ModelLoadError,
    unknown_architecture: ModelLoadError,
    shapes_that_do_not_fit: ModelLoadError,
    broken_config: ModelLoadError,
    no_tokenizer: ModelLoadError,
    a_tokenizer_of_few_tokens: ModelLoadError,
    broken_template: TemplateError,
}


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
async def test_a_model_that_cannot_be_loaded_is_a_typed_error(model_copy, damage):
    damage(model_copy)
    with pytest.raises(DAMAGES[damage]) as caught:
        async with Engine(model_copy, total_pages=PAGES):
            pass
    assert_one_clear_line(caught.value)


@pytest.mark.parametrize("name", ["nobody/nothing", "no-such-model", "/no/such/directory", "a/b/c"])
async def test_an_unknown_model_is_a_typed_error(name):
    with pytest.raises(ModelNotFoundError) as caught:
        async with Engine(name, total_pages=PAGES):
            pass
    assert_one_clear_line(caught.value)


async def test_a_model_without_a_template_speaks_chatml(model_copy):
    (model_copy / "chat_template.jinja").unlink()

    async def main(input):
        with fresh_context() as context:
            context.user("Hello")
            return context.model.tokenizer().decode(context.buffer())

    async with Engine(model_copy, total_pages=PAGES) as engine:
        assert await engine.run(main) == "<|im_start|>user\nHello<|im_end|>\n"  # D1


async def test_a_program_that_names_an_unknown_model_is_told_which_there_are(small_engine):
    async def main(input):
        Model.load("gpt-9")

    with pytest.raises(ModelNotFoundError) as caught:
        await small_engine.run(main)
    assert "dummy" in caught.value.message + caught.value.hint  # I2
