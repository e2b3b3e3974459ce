"""What a program did, as tests ask for it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pie_mlx import calls
from pie_mlx.calls import Call
from pie_mlx.events import Event, ProcessMessage
from pie_mlx.runtime.recording.entries import AnyEntry, Called, Replied
from pie_mlx.runtime.recording.file import Recording
from pie_mlx.runtime.recording.transcript import transcript
from pie_mlx.runtime.worker.frames.messages import reply_decoder


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens: `prompt_tokens` were computed or, `cached_tokens` of them, found in the cache; `generated_tokens` were
    drawn. `calls` to the engine."""

    prompt_tokens: int = 0
    cached_tokens: int = 0
    generated_tokens: int = 0
    calls: int = 0


@dataclass(frozen=True, slots=True)
class Result:
    """How a program ended: `result` is its value, `error` the exception if it failed and that was allowed.

    `output` is what it printed, `messages` and `files` what it sent, `events` what the engine said of it. `transcript`
    has a line per turn, answer, tool call and message. `replayed`: no model was asked.
    """

    result: Any
    output: str
    messages: tuple[Any, ...]
    files: dict[str, bytes]
    events: tuple[Event, ...]
    usage: Usage
    transcript: str
    error: BaseException | None = field(default=None, repr=False)
    replayed: bool = False


def result_of(
    recording: Recording,
    value: Any,
    output: str,
    events: Sequence[Event],
    *,
    error: BaseException | None = None,
    replayed: bool = False,
) -> Result:
    """The result of a recorded run."""
    sent = [entry.message for entry in recording.entries if isinstance(entry, Called) and entry.process == 0]
    messages = [one for one in sent if isinstance(one, calls.SendMessage)]
    return Result(
        value,
        output,
        tuple(json.loads(one.text) if one.format == "json" else one.text for one in messages),
        {one.name: one.data for one in sent if isinstance(one, calls.SendFile)},
        tuple(events) or tuple(ProcessMessage("", one.text, one.format) for one in messages),
        usage_of(recording.entries),
        "\n".join(transcript(recording.entries)),
        error,
        replayed,
    )


def usage_of(entries: Sequence[AnyEntry]) -> Usage:
    """The tokens of a recorded run with its children."""
    passes: dict[tuple[int, int], Call[Any]] = {}
    prompt = cached = generated = made = 0
    for entry in entries:
        if isinstance(entry, Called):
            made += 1
            if isinstance(entry.message, calls.Forward):
                passes[entry.process, entry.number] = entry.message
        elif isinstance(entry, Replied) and isinstance(
            message := passes.pop((entry.process, entry.number), None), calls.Forward
        ):
            reply = reply_decoder(calls.Forward).decode(entry.reply)
            drawn = [one for one in reply.results if isinstance(one, calls.SampledTokens)]
            prompt += len(message.pending) + len(message.tokens)
            cached += reply.attached
            generated += sum(len(one.tokens) for one in drawn)
    return Usage(prompt, cached, generated, made)
