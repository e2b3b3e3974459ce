"""Adapter files of a program in a process of its own: its sandbox decides what it reaches."""

import shutil

import pytest
import pytest_asyncio

from pie_mlx import Engine
from pie_mlx.runtime.worker.settings import WorkerSettings
from tests.engine.adapters.folders import random_pairs, write_mlx_lm

PROGRAM = """
    from inferlet import Adapter, Context, Model, Sampler, runtime

    async def text(model, adapter):
        with Context(model) as context:
            context.user("Where do you live?")
            return await context.generate(Sampler.argmax(), max_tokens=8, adapter=adapter).collect_tokens()

    async def main(input):
        model = Model.load(runtime.models()[0])
        first = Adapter.create(model, "first")
        try:
            first.load(input["load"])
            first.save(input["save"])
            second = first.fork("second")
            second.load(input["save"])
            texts = [await text(model, one) for one in (None, first, second)]
            second.destroy()
            return [texts[0] != texts[1], texts[1] == texts[2]]
        except OSError as error:
            return type(error).__name__
        finally:
            first.destroy()
    """


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def engine(tmp_path_factory):
    workers = WorkerSettings(
        sandbox="best-effort", warm_workers=1, scratch_directory=str(tmp_path_factory.mktemp("scratch"))
    )
    async with Engine("pie-tiny", total_pages=64, seed=1, isolation="process", workers=workers) as running:
        yield running


@pytest.mark.asyncio(loop_scope="module")
async def test_adapters_are_read_beside_the_program_and_written_to_scratch(engine, program, tmp_path):  # A1
    path = program(PROGRAM)
    write_mlx_lm(tmp_path / "style", random_pairs(1))
    (tmp_path / "Pie.toml").write_text('[package]\nname = "styled"\nversion = "1.0.0"\n')
    path.rename(tmp_path / "main.py")
    found = await engine.run(tmp_path, {"load": str(tmp_path / "style"), "save": "/scratch/saved"})
    assert found == [True, True]


@pytest.mark.asyncio(loop_scope="module")
async def test_other_places_are_closed(engine, program, tmp_path, tmp_path_factory, complete_walls):
    elsewhere = write_mlx_lm(tmp_path_factory.mktemp("elsewhere") / "style", random_pairs(1))
    assert await engine.run(program(PROGRAM), {"load": str(elsewhere), "save": "/scratch/x"}) == "PermissionError"


@pytest.mark.asyncio(loop_scope="module")
async def test_without_allow_fs_nothing_is_written(program, tmp_path):
    workers = WorkerSettings(sandbox="best-effort", warm_workers=1)
    path = program(PROGRAM)
    style = write_mlx_lm(tmp_path / "x", random_pairs(1))
    folder = tmp_path / "package"
    shutil.copytree(style, folder / "style")
    (folder / "Pie.toml").write_text('[package]\nname = "styled"\nversion = "1.0.0"\n')
    path.rename(folder / "main.py")
    async with Engine("pie-tiny", total_pages=64, isolation="process", workers=workers) as alone:
        found = await alone.run(folder, {"load": str(folder / "style"), "save": "/scratch/x"})
    assert found == "PermissionError"
