"""The directory of a built-in program is a program like any other."""

import shutil

import openai
import pytest

from pie_mlx.runtime.daemon.builtin_programs import BUILTIN
from tests.ports import free_port
from tests.server.running import RunningServer
from tests.server.speaking import speak

pytestmark = pytest.mark.timeout(60)


async def test_a_changed_copy_is_served_on_a_port_of_its_own(tmp_path):
    folder = tmp_path / "mine"
    shutil.copytree(BUILTIN / "openai", folder)
    manifest = folder / "Pie.toml"
    manifest.write_text(manifest.read_text().replace('"openai"', '"mine"'))
    main = folder / "main.py"
    main.write_text(main.read_text().replace('"owned_by": "pie"', '"owned_by": "me"'))
    running = RunningServer(tmp_path / "home", isolation="process").start()
    try:
        running.server.service.programs.install_path(folder)
        port = free_port()
        async with await speak(running, "ada") as ada:
            assert await ada.ask("launch_daemon", port=port, inferlet="mine", input="{}") == (True, "server launched")
        async with openai.AsyncOpenAI(base_url=f"http://localhost:{port}/v1", api_key="any", max_retries=0) as client:
            assert [model.owned_by async for model in client.models.list()] == ["me"]
            create = client.completions.create
            answer = await create(model="dummy", prompt="Hello", temperature=0, max_tokens=3)
            stream = await create(model="dummy", prompt="Hello", temperature=0, max_tokens=3, stream=True)
            assert "".join([chunk.choices[0].text async for chunk in stream]) == answer.choices[0].text
    finally:
        running.stop()
