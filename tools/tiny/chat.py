"""Conversations as text through the chat template that ships, and the parts of it that are learned."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

from tools.tiny.text.sample import Sample

TEMPLATE = Path(__file__).parent / "chat_template.jinja"
CUE = "<|im_start|>assistant\n"
NO_THOUGHT = "<think>\n\n</think>\n\n"
TURN_END = "<|im_end|>"


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


@cache
def _template() -> jinja2.Template:
    # The same environment as transformers uses, so that training text and later prompts agree to the byte.
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols])
    environment.filters["tojson"] = _to_json
    return environment.from_string(TEMPLATE.read_text())


def render(sample: Sample, upto: int | None = None, cue: bool = False) -> str:
    """The text of a sample's first `upto` messages, with the assistant's cue if asked."""
    switch = {} if sample.thinking is None else {"enable_thinking": sample.thinking}
    return _template().render(
        messages=sample.messages[:upto], tools=list(sample.tools) or None, add_generation_prompt=cue, **switch
    )


def prompt(sample: Sample) -> str:
    """What the model sees before its last turn."""
    return render(sample, len(sample.messages) - 1, cue=True)


def pieces(sample: Sample) -> list[tuple[str, bool]]:
    """The rendered conversation cut into parts; True marks what the model writes, turn ends included."""
    text = render(sample)
    parts: list[tuple[str, bool]] = []
    start = 0
    for match in re.finditer(re.escape(CUE), text):
        begin = match.end()
        if sample.thinking is False and text.startswith(NO_THOUGHT, begin):
            begin += len(NO_THOUGHT)
        end = text.index(TURN_END, begin) + len(TURN_END)
        parts += [(text[start:begin], False), (text[begin:end], True)]
        start = end
    # The newline after the last turn end is never seen by a model that has stopped.
    return parts
