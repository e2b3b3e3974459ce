import textwrap

import pytest
import pytest_asyncio

from tests.runtime.worker.conftest import bounded_engine, pools  # noqa: F401 - a fixture


@pytest.fixture
def program(tmp_path):
    """Writes a program and answers its path; further files are named by keywords, with `_` for the dot."""

    def write(source, name="main.js", **files):
        for file, text in {name: source, **{key.replace("_", "."): text for key, text in files.items()}}.items():
            (tmp_path / file).write_text(textwrap.dedent(text))
        return tmp_path if files else tmp_path / name

    return write


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine():
    """An engine without weights whose programs run in confined workers; the tests of a module share it."""
    async with bounded_engine(sandbox="required", max_memory_bytes=256 << 20) as running:
        yield running
