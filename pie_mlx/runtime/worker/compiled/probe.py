"""Tries forbidden actions where a component runs, and reports which were stopped."""

from pie_mlx.runtime.sandbox.probe import SandboxReport, attempted

BOOT = "from pie_mlx.runtime.worker.compiled.attempts import main; main(sys.argv[1:])"


def probe_wasmtime() -> SandboxReport:
    """Takes as long as starting an interpreter and wasmtime. Raises OSError if that fails."""
    return attempted(BOOT)
