"""What is exported, and what importing it loads."""

import subprocess
import sys

import pie_mlx.sdk

LOADED = """
import sys, pie_mlx.sdk
for name in pie_mlx.sdk.__all__:
    getattr(pie_mlx.sdk, name)
print(*sorted({name.split(".")[0] for name in sys.modules} | {name for name in sys.modules if "pie_mlx" in name}))
"""
HEAVY = {"mlx", "mlx_lm", "numpy", "transformers", "jinja2", "torch", "pydantic", "asyncio", "llguidance"}
ROOMS = {"engine", "metal", "runtime", "server", "client", "cli", "tui"}


def test_everything_exported_is_importable() -> None:
    assert [name for name in pie_mlx.sdk.__all__ if not hasattr(pie_mlx.sdk, name)] == []
    assert sorted(pie_mlx.sdk.__all__) == pie_mlx.sdk.__all__


def test_everything_public_is_exported() -> None:
    public = {
        name for name, value in vars(pie_mlx.sdk).items() if getattr(value, "__module__", "").startswith("pie_mlx")
    }
    assert {name for name in public if not name.startswith("_")} <= set(pie_mlx.sdk.__all__)


def test_importing_the_sdk_loads_nothing_heavy() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert loaded & HEAVY == set()
    assert loaded & {f"pie_mlx.{room}" for room in ROOMS} == set()
