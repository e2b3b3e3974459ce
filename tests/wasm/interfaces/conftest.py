"""One engine for all interfaces."""

import pytest
import pytest_asyncio

from pie_mlx import Engine
from pie_mlx.wasm.interfaces import model


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def engine():
    async with Engine("pie-tiny") as started:
        yield started


@pytest.fixture
def run(engine):
    """Runs a function as a component's program: one that blocks. Its argument is the model."""

    async def run(body, **options):
        def program(input):
            return body(model.Model.load("pie-tiny"))

        return await engine.run(program, **options)

    return run
