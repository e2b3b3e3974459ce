"""The official client takes seconds to import: nothing may bring it in before a server is used."""

import subprocess
import sys

SCRIPT = "import sys, pie_mlx.runtime.engine; print(*(name.partition('.')[0] for name in sys.modules))"


def test_an_engine_without_servers_loads_no_client() -> None:
    ended = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert {"mcp", "mcp_types"} & set(ended.stdout.split()) == set()
