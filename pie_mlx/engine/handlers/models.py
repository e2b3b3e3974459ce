"""Models, tokenizers and chat rendering."""

from collections.abc import Generator

from msgspec.structs import replace

from pie_mlx import __version__, calls
from pie_mlx.engine.handlers.base import answers_alone, looks_up, looks_up_in_steps
from pie_mlx.engine.hosting.process import HostedProcess
from pie_mlx.engine.kv.pages.record import check_tokens
from pie_mlx.engine.services import Services
from pie_mlx.engine.text.tokens.tokenizer import LONG
from pie_mlx.errors import ContextLengthError, InvalidArgumentError

LONGEST_TEXT = 8 << 20
"""Characters that are encoded at once, and that a conversation may have."""
LONGEST_REPLY = 1 << 20
"""Characters that are searched for calls."""
MOST_DECODED = 1 << 20
"""Tokens that are decoded at once."""


def _is_long_turn(call: calls.RenderTurn) -> bool:
    return bool(call.template) or _renders(call) or _length(call) > LONG


def _renders(call: calls.RenderTurn) -> bool:
    """Whether the model's template may be asked, which is a program and takes as long as it likes."""
    turn, state = call.turn, call.state
    return (
        bool(turn.schemas or turn.calls or state.held or state.turns or state.last is None)
        or turn.role == "tool_result"
    )


def _length(call: calls.RenderTurn) -> int:
    return sum(map(_characters, (call.turn, *call.state.held, *call.state.turns)))


def _characters(turn: calls.Turn) -> int:
    return sum(map(len, (turn.text, *turn.schemas, *(call.arguments for call in turn.calls))))


@answers_alone(calls.DescribeRuntime)
async def describe_runtime(process: HostedProcess, call: calls.DescribeRuntime) -> calls.RuntimeInfo:
    del call
    return calls.RuntimeInfo(
        version=__version__,
        instance_id=process.instance_id,
        username=process.username,
        models=list(process.models),
        process_id=process.id,
        loaded=process.loaded(),
        loading=process.loading(),
    )


@answers_alone(calls.DescribeModels)
async def describe_models(process: HostedProcess, call: calls.DescribeModels) -> list[calls.ModelState]:
    del call
    return process.described()


@looks_up(calls.LoadModel, lambda call: bool(call.template))
def load_model(services: Services, call: calls.LoadModel) -> calls.ModelInfo:
    services.check_model(call.name)
    return replace(services.model_info, formats=services.language.chats.of(call.template).formats())


@looks_up_in_steps(calls.Encode, lambda call: len(call.text) > LONG)
def encode(services: Services, call: calls.Encode) -> Generator[int, None, list[int]]:
    services.check_model(call.model)
    if len(call.text) > LONGEST_TEXT:
        raise InvalidArgumentError(
            f"encode: {len(call.text):,} characters, at most {LONGEST_TEXT:,} at once", hint="encode it in parts"
        )
    return (yield from services.language.tokenizer.encoding(call.text, begins=call.begins))


@looks_up(calls.Decode, lambda call: len(call.tokens) > LONG)
def decode(services: Services, call: calls.Decode) -> str:
    services.check_model(call.model)
    if len(call.tokens) > MOST_DECODED:
        raise InvalidArgumentError(
            f"decode: {len(call.tokens):,} tokens, at most {MOST_DECODED:,} at once", hint="decode them in parts"
        )
    check_tokens(call.tokens, services.model_info.vocabulary_size)
    return services.language.tokenizer.decode(call.tokens)


@looks_up(calls.ReadVocabulary)
def read_vocabulary(services: Services, call: calls.ReadVocabulary) -> calls.Vocabulary:
    services.check_model(call.model)
    tokenizer = services.language.tokenizer
    return tokenizer.special_tokens() if call.special_only else tokenizer.vocabulary()


@looks_up(calls.ReadSplitRegex, lambda call: True)
def read_split_regex(services: Services, call: calls.ReadSplitRegex) -> str:
    services.check_model(call.model)
    return services.language.tokenizer.split_regex()


@looks_up_in_steps(calls.RenderTurn, _is_long_turn)
def render_turn(services: Services, call: calls.RenderTurn) -> Generator[int, None, calls.RenderedTurn]:
    services.check_model(call.model)
    length, most = _length(call), services.model_info.maximum_positions
    # What templates may leave out, such as the thoughts of past replies, is counted when it is written.
    written = 0 if call.turn.role == "assistant" else len(call.turn.text)
    turns = len(call.state.held) + len(call.state.turns)
    at_least = max(written // services.language.tokenizer.longest_token_bytes, turns)
    if length > LONGEST_TEXT or at_least > most:
        raise _too_long(f"{length:,} characters, at least {at_least:,} tokens", most)
    steps = services.language.chats.rendering(call.template, call.turn, call.state)
    while True:
        try:
            tokens = next(steps)
        except StopIteration as end:
            return end.value
        if tokens > most:
            raise _too_long(f"more than {tokens:,} tokens", most)
        yield tokens


def _too_long(length: str, most: int) -> ContextLengthError:
    return ContextLengthError(
        f"turn: {length}, the model takes {most:,} tokens and a conversation {LONGEST_TEXT:,} characters",
        hint="shorten the text, or give the model a part at a time",
    )


@looks_up(calls.ParseToolCall, lambda call: sum(map(len, (call.text, *call.schemas))) > LONG)
def parse_tool_call(services: Services, call: calls.ParseToolCall) -> list[calls.ParsedToolCall]:
    services.check_model(call.model)
    if len(call.text) > LONGEST_REPLY:
        raise InvalidArgumentError(
            f"parse_call: {len(call.text):,} characters, at most {LONGEST_REPLY:,}", hint="pass the reply of one turn"
        )
    return services.language.chats.plain.parse_calls(call.text, call.schemas)
