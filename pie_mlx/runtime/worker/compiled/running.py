"""Runs a compiled component in its worker."""

from pathlib import Path

from pie_mlx.errors import LaunchError
from pie_mlx.runtime.worker.compiled.form import file_digest
from pie_mlx.runtime.worker.frames.messages import CompiledLocation, LaunchSpec


def run_compiled(spec: LaunchSpec, location: CompiledLocation) -> object:
    """Its value as text. Raises LaunchError if its machine code is not what was launched."""
    from pie_mlx.wasm.body import answer_request, run_component  # wasmtime may not be installed

    if file_digest(Path(location.file)) != location.digest:
        raise LaunchError("component: its compiled form was changed on disk", hint="run it again: it is compiled anew")
    if spec.call == "http":
        return answer_request(location.file, spec.max_memory_bytes)
    return run_component(location.file, spec.input, spec.max_memory_bytes)
