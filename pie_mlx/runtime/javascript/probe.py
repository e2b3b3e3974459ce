"""Tries forbidden actions from a confined Node, and reports which were stopped."""

from pie_mlx.runtime.sandbox.probe import SandboxReport, attempted

BOOT = "from pie_mlx.runtime.javascript.attempts import main; main(sys.argv[1:])"


def probe_node() -> SandboxReport:
    """Takes as long as starting an interpreter and Node. Raises OSError if that fails."""
    return attempted(BOOT)
