"""For whom of the last batches the next one waits."""

import pytest

from pie_mlx.sdk import Context, Sampler
from tests.engine.running import Running


def is_awaited(engine: Running, context: Context) -> bool:
    return engine.core.services.queue._ticks._may_return(context._handle.id)


async def test_a_context_that_was_forked_is_not_awaited(engine: Running) -> None:  # Q9
    with Context(engine.model) as root:
        root.append(engine.prompt(9))
        await root.flush()
        assert is_awaited(engine, root)
        with root.fork():
            assert not is_awaited(engine, root)
            root.append([45])
            await root.flush()
            assert is_awaited(engine, root)


@pytest.mark.parametrize("end", ["token", "length"])
async def test_a_text_that_has_ended_is_not_awaited(engine: Running, end: str) -> None:  # Q9
    with Context(engine.model) as root:
        root.append(engine.prompt(9))
        with root.fork() as context:
            options = {"max_tokens": 9, "auto_flush": False}
            drawn = await context.generate(Sampler.argmax(), stop=[], **options).collect_tokens()
        stop = drawn[4:5] if end == "token" else []
        generator = root.generate(Sampler.argmax(), stop=stop, **options)
        await (await anext(generator)).execute()
        assert is_awaited(engine, root)
        await generator.collect_tokens()
        assert not is_awaited(engine, root)
