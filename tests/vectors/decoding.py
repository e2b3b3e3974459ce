"""Streams of tokens, and the events that the three decoders make of them."""

import random
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import msgspec

from inferlet import Model, chat, reasoning, tools
from inferlet.detokenizer import token_bytes
from pie_mlx.calls import ParseToolCall, ReasoningFormat
from pie_mlx.errors import ModelError
from tests.engine.text.tools.test_tool_calls import SCHEMA, SEVERAL, WRITTEN
from tests.inferlet._decoding.test_decoder import made
from tests.inferlet._decoding.test_tool_decoder import TEMPLATES
from tests.inferlet.speaking import cuts

DECODERS = {"chat": chat.Decoder, "reasoning": reasoning.Decoder, "tools": tools.Decoder}
UNKNOWN_TOKEN = 5000
TEXTS = [
    "<think>a\nb</think>c",
    "\n <think>plan",
    "a < b </think> ü 漢 🍊 <",
    '<tool_call>{"name": "f"',
    'x <tool_call>\n{"name": "f", "arguments": {"x": "</tool_call>"}}\n</tool_call> y<think>z</think>',
    "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>so",
    "<|channel|>commentary to=functions.f<|message|>{}<|call|>",
    ' {"name": 1}',
]


def decoding_cases() -> list[dict[str, Any]]:
    """The models, then replies in every style of tool calls: whole, token by token and at random."""
    source = random.Random(2)
    models: dict[str, Any] = {}
    found: list[dict[str, Any]] = []
    for style, (template, special) in TEMPLATES.items():
        model = made(template, special, end="<|call|>" if style == "harmony" else "<|im_end|>")
        opened = _opened_by_cue(model)
        texts = [*TEXTS, WRITTEN[style], f"Hi {WRITTEN[style]}", SEVERAL.get(style, "")]
        for text in texts:
            tokens = model.tokenizer().encode(text)
            for decoder in DECODERS if text not in TEXTS else [source.choice(list(DECODERS))]:
                name, speaker = style, model
                if opened is not None and source.random() < 0.4:
                    name, speaker = f"{style}, opened by the cue", opened
                models[name] = msgspec.to_builtins(speaker.info)
                case = _case(speaker, decoder, _feeds(model, tokens, source))
                found.append({"name": f"{text!r} to {decoder}", "model": name, **case})
    return [{"models": models}, *found, *_noise(source)]


def _noise(source: random.Random) -> list[dict[str, Any]]:
    """Tokens at random: characters are broken, and delimiters are where no model writes them."""
    found: list[dict[str, Any]] = []
    for style in ("hermes", "harmony"):
        template, special = TEMPLATES[style]
        model = made(template, special, end="<|call|>" if style == "harmony" else "<|im_end|>")
        controls = model.info.formats.control_tokens
        for number in range(20):
            tokens = [
                source.choice(controls) if source.random() < 0.2 else source.randrange(model.info.vocabulary_size)
                for _ in range(24)
            ]
            case = _case(model, source.choice(list(DECODERS)), _feeds(model, tokens, source))
            found.append({"name": f"noise {number}", "model": style, **case})
    return found


def _opened_by_cue(model: Model) -> Model | None:
    """The same model, if it reasons, as one whose cue opens its thought."""
    formats = model.info.formats
    if formats.channels:
        return None
    thought = ReasoningFormat("<think>", "</think>", opened_by_cue=True)
    formats = msgspec.structs.replace(formats, reasoning=thought, strips_first_space=True)
    return Model(msgspec.structs.replace(model.info, formats=formats), model.host)


def _feeds(model: Model, tokens: list[int], source: random.Random) -> list[list[int]]:
    """Some order of feeds; a reply may end by a stop token, or have a token that the tokenizer lacks."""
    tokens = list(tokens)
    if source.random() < 0.2:
        tokens.insert(source.randrange(len(tokens) + 1), UNKNOWN_TOKEN)
    if source.random() < 0.7:
        tokens += model.info.formats.stop_tokens[:1]
        if source.random() < 0.3:
            tokens += tokens
    match source.randrange(3):
        case 0:
            return [tokens]
        case 1:
            return [[token] for token in tokens]
        case _:
            return cuts(tokens, source.randrange(100))


def _case(model: Model, decoder: str, feeds: list[list[int]]) -> dict[str, Any]:
    schemas = [SCHEMA] if decoder == "tools" else []
    parsed: dict[str, Any] = {}
    call = model.host.call

    def listening(message: Any) -> Any:
        reply = call(message)
        if isinstance(message, ParseToolCall):
            parsed[message.text] = msgspec.to_builtins(reply)
        return reply

    model.host.call = listening  # pyright: ignore[reportAttributeAccessIssue]
    try:
        events = _events(DECODERS[decoder](model, *([schemas] if schemas else [])), feeds)
    finally:
        model.host.call = call
    used = {token for feed in feeds for token in feed} | set(model.info.formats.control_tokens)
    spelled = {str(token): text.hex() for token, text in token_bytes(model).items() if token in used}
    case = {"decoder": decoder, "schemas": schemas, "vocabulary": spelled}
    return {**case, "feeds": feeds, "parsed": parsed, "events": events}


def _events(decoder: Any, feeds: list[list[int]]) -> list[dict[str, Any]]:
    """The event of each feed, then of the end, then those left."""
    found = [_event(decoder.feed, feed) for feed in feeds]
    found.append(_event(decoder.finish))
    while found[-1].get("type") != "idle":
        found.append(_event(decoder.feed, []))
    return found


def _event(read: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
    try:
        event = read(*arguments)
    except ModelError as error:
        return {"error": error.code}
    return {"type": type(event).__name__.lower(), **asdict(event)}
