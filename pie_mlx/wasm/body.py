"""One run of a component as a program, and its compilation before."""

import contextlib
import sys
from collections.abc import Generator

from wasmtime import Engine, WasmtimeError
from wasmtime import component as wit

from inferlet._calls.host import current_host
from inferlet.sync._blocking import wait
from pie_mlx.calls import ReadHttpRequest
from pie_mlx.errors import LaunchError, ProcessError
from pie_mlx.wasm.component import RunningComponent, new_engine
from pie_mlx.wasm.facts import Facts
from pie_mlx.wasm.linking import examine, handler_export, run_export
from pie_mlx.wasm.wasi.http.incoming import IncomingRequest, ResponseOutparam

_SHOWN_CHARACTERS = 300


def run_component(code_file: str, input: str, memory_bytes: int | None = None) -> str:
    """Run a compiled component with its input, JSON text, and return its value as text.

    It has at most `memory_bytes` of memory. Raises what a call of it raised, and ProcessError for an error that it
    returns and for a trap, whose stack goes to standard error.
    """
    engine = new_engine()
    component = deserialized(engine, code_file)
    interface, function = run_export(engine, component)
    with _stack_printed():
        is_ok, text = RunningComponent(engine, component, memory_bytes).call(interface, function, input)
    if not is_ok:
        raise ProcessError(text, hint="the component returned it as its error")
    return text


def answer_request(code_file: str, memory_bytes: int | None = None) -> None:
    """Let a compiled component answer the HTTP request of this process. Raises as `run_component`."""
    engine = new_engine()
    component = deserialized(engine, code_file)
    interface, function = handler_export(engine, component)
    host = current_host()
    place, request = ResponseOutparam(host), IncomingRequest(wait(host.submit(ReadHttpRequest())))
    with _stack_printed():
        RunningComponent(engine, component, memory_bytes).call(interface, function, request, place)
    if not place.answered:
        raise ProcessError("component: it did not answer the request", hint="set the response-outparam")


@contextlib.contextmanager
def _stack_printed() -> Generator[None]:
    try:
        yield
    except ProcessError as error:
        sys.stderr.writelines(f"{note}\n" for note in getattr(error, "__notes__", ()))
        raise


def deserialized(engine: Engine, code_file: str) -> wit.Component:
    """A component from a file with what `compiled` returned, whose digest its caller has compared.

    It is mapped, also what its memory begins with: from bytes that would need a file in memory, which the walls refuse.
    """
    try:
        return wit.Component.deserialize_file(engine, code_file)
    except WasmtimeError as error:
        raise LaunchError(f"component: its compiled form: {_line(error)}", hint="compile it again") from None


def compiled(wasm: bytes) -> tuple[Facts, bytes]:
    """What to know of a component, and its compiled form. Raises LaunchError.

    It may take minutes and gigabytes, so this belongs into a process with limits.
    """
    engine = new_engine()
    try:
        component = wit.Component(engine, wasm)
    except WasmtimeError as error:
        raise LaunchError(f"component: {_line(error)}", hint="build it for wasm32-wasip2") from None
    return examine(engine, component), bytes(component.serialize())


def _line(error: WasmtimeError) -> str:
    return " ".join(str(error).split())[:_SHOWN_CHARACTERS]
