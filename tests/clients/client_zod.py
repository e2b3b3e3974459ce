"""What pie-tiny makes of the tools of the AI SDK, whose schemas are zod's: more than it was trained on."""

import subprocess
from functools import partial
from pathlib import Path

import pytest

from pie_mlx.runtime.engine import Engine
from tests.clients.conftest import INSTALLED
from tests.clients.scripted import served

pytestmark = pytest.mark.timeout(120)
MODEL = "pie-tiny"


def test_pie_tiny_calls_a_tool_whose_schema_is_of_zod(tmp_path, environment):
    with served(tmp_path / "engine", partial(Engine, MODEL, total_pages=512), MODEL) as url:
        ran = subprocess.run(
            ["node", "--input-type=module", "-", url, MODEL],
            cwd=INSTALLED,
            env=environment,
            input=Path(__file__).with_name("zod_tool.mjs").read_text(),
            capture_output=True,
            text=True,
            timeout=100,
        )
    assert ran.returncode == 0, ran.stdout + ran.stderr
