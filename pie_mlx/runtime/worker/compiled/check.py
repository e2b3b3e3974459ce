"""Mistakes in a component, found by compiling it."""

from pathlib import Path

from pie_mlx.errors import LaunchError
from pie_mlx.runtime.worker.compiled.cache import CompiledComponents


def component_findings(file: Path, components: CompiledComponents) -> tuple[list[str], list[str]]:
    """Why a component cannot be launched, and which calls will end it. Blocks while it is compiled."""
    try:
        _, facts = components.get(file)
    except LaunchError as error:
        return [f"{error.message}: {error.hint}"], []
    return [], [f"it imports {', '.join(facts.refused)}: to call that ends it"] if facts.refused else []
