"""The process that renders chat templates."""

import pickle
import resource
import signal
import sys
from typing import Any, BinaryIO

import jinja2

from pie_mlx.engine.text.templates.environment import chat_environment
from pie_mlx.engine.text.templates.process import (
    BROKEN,
    LENGTH,
    LONGEST_TEXT,
    MEMORY_BYTES,
    NAMES,
    REFUSED,
    TEXT,
)
from pie_mlx.engine.text.templates.variables import variables_in

Templates = dict[int, jinja2.Template]


def serve() -> None:
    """Answer until requests end. The system ends this process if an answer takes the seconds of the last argument."""
    cpu_seconds = float(sys.argv[-1])
    if sys.platform == "linux":  # elsewhere it has no effect
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    environment, templates = chat_environment(), Templates()
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    while (head := requests.read(LENGTH.size)) and len(head) == LENGTH.size:
        request = pickle.loads(requests.read(LENGTH.unpack(head)[1]))
        signal.setitimer(signal.ITIMER_PROF, cpu_seconds)
        kind, text = _answered(environment, templates, *request)
        signal.setitimer(signal.ITIMER_PROF, 0)
        _send(answers, kind, text.encode("utf-8", "surrogatepass"))


def _send(answers: BinaryIO, kind: bytes, data: bytes) -> None:
    answers.write(LENGTH.pack(kind, len(data)) + data)
    answers.flush()


def _answered(
    environment: jinja2.Environment,
    templates: Templates,
    number: int,
    source: str | None,
    names: dict[str, Any] | None,
) -> tuple[bytes, str]:
    try:
        if source is not None:
            templates[number] = environment.from_string(source)
        if names is None:
            return NAMES, " ".join(variables_in(environment, source or ""))
    except jinja2.TemplateSyntaxError as error:
        return BROKEN, f"line {error.lineno}: {error.message}"
    except Exception as error:
        return BROKEN, _reason(error)
    try:
        return TEXT, _rendered(templates[number], names)
    except Exception as error:  # a template is a program of its own and fails with whatever it likes
        return REFUSED, _reason(error)


def _rendered(template: jinja2.Template, names: dict[str, Any]) -> str:
    parts: list[str] = []
    length = 0
    for part in template.generate(names):
        length += len(part)
        if length > LONGEST_TEXT:
            raise jinja2.TemplateError(f"it writes more than {LONGEST_TEXT:,} characters")
        parts.append(part)
    return "".join(parts)


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return str(error) or type(error).__name__
