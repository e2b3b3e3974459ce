"""Readers of what strangers send, each as a function of bytes that raises only what is a finding."""

import contextlib
import functools
import importlib

from pie_mlx.errors import LaunchError, ProtocolError
from pie_mlx.runtime.daemon import builtin_program
from pie_mlx.runtime.network.request_head import parse_request
from pie_mlx.runtime.program.manifest import examine_manifest
from pie_mlx.runtime.program.modules import ModuleSpace
from pie_mlx.runtime.store.archive import archive_entries
from pie_mlx.runtime.worker.frames.reader import LongFrame, WorkerFrames
from pie_mlx.server import frames


def client_frame(data):
    with contextlib.suppress(ProtocolError):
        return frames.decode(data)


def worker_stream(data):
    """Frames of a worker, as they come, until one of them is none."""
    reader = WorkerFrames()
    reader.feed(data)
    found = []
    with contextlib.suppress(ProtocolError):
        while (frame := reader.next_frame()) is not None:
            found.append(frame.decode() if isinstance(frame, LongFrame) else frame)
    return found


def worker_frame(data):
    return worker_stream(len(data).to_bytes(4, "little") + data)


def manifest(data):
    found, problems = examine_manifest(data.decode(errors="replace"))
    assert (found is None) == bool(problems)


def package(data):
    """A package, and the manifest that it brings."""
    with contextlib.suppress(LaunchError):
        for entry in archive_entries(data):
            if entry.path == "Pie.toml":
                manifest(entry.data)


def chat_body(data):
    _body(data, "fields", "ChatRequest")


def completion_body(data):
    _body(data, "fields", "CompletionRequest")


def response_body(data):
    _body(data, "responses", "ResponseRequest")


def message_body(data):
    _body(data, "messages", "MessageRequest")


def ollama_chat_body(data):
    _body(data, "ollama", "ChatRequest")


def ollama_generate_body(data):
    _body(data, "ollama", "GenerateRequest")


def proxy_head(data):
    parse_request(data)


def _body(data, module, kind):
    openai = _openai()
    with contextlib.suppress(openai("wire").Refusal):
        openai("wire").read_fields(data, getattr(openai(module), kind))


@functools.cache
def _openai():
    """Modules of the built-in program that answers /v1, by name."""
    space = ModuleSpace(builtin_program("openai"))
    return functools.cache(lambda name: importlib.import_module(f"{space.package}.{name}"))


TARGETS = {
    target.__name__: target
    for target in (
        client_frame,
        worker_stream,
        worker_frame,
        manifest,
        package,
        chat_body,
        completion_body,
        message_body,
        ollama_chat_body,
        ollama_generate_body,
        response_body,
        proxy_head,
    )
}
