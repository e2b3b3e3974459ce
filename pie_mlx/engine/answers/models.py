"""Models, tokenizers and chat rendering."""

from msgspec.structs import replace

from pie_mlx import calls
from pie_mlx.engine.answers.base import answers, looks_up
from pie_mlx.engine.process import Process
from pie_mlx.engine.services import Services
from pie_mlx.engine.text.tokenizer import LONG


def _is_long_turn(call: calls.RenderTurn) -> bool:
    return bool(call.template) or sum(map(_characters, (call.turn, *call.state.held, *call.state.turns))) > LONG


def _characters(turn: calls.Turn) -> int:
    return sum(map(len, (turn.text, *turn.schemas, *(call.arguments for call in turn.calls))))


@answers(calls.DescribeRuntime)
async def describe_runtime(services: Services, process: Process, call: calls.DescribeRuntime) -> calls.RuntimeInfo:
    del call
    return calls.RuntimeInfo(
        version=services.version,
        instance_id=services.instance_id,
        username=process.username,
        models=[services.model_name],
    )


@looks_up(calls.LoadModel, lambda call: bool(call.template))
def load_model(services: Services, call: calls.LoadModel) -> calls.ModelInfo:
    services.check_model(call.name)
    return replace(services.model_info, formats=services.chats.of(call.template).formats())


@looks_up(calls.Encode, lambda call: len(call.text) > LONG)
def encode(services: Services, call: calls.Encode) -> list[int]:
    services.check_model(call.model)
    return services.tokenizer.encode(call.text)


@looks_up(calls.Decode, lambda call: len(call.tokens) > LONG)
def decode(services: Services, call: calls.Decode) -> str:
    services.check_model(call.model)
    services.check_tokens(call.tokens)
    return services.tokenizer.decode(call.tokens)


@looks_up(calls.ReadVocabulary)
def read_vocabulary(services: Services, call: calls.ReadVocabulary) -> calls.Vocabulary:
    services.check_model(call.model)
    return services.tokenizer.special_tokens() if call.special_only else services.tokenizer.vocabulary()


@looks_up(calls.ReadSplitRegex, lambda call: True)
def read_split_regex(services: Services, call: calls.ReadSplitRegex) -> str:
    services.check_model(call.model)
    return services.tokenizer.split_regex()


@looks_up(calls.RenderTurn, _is_long_turn)
def render_turn(services: Services, call: calls.RenderTurn) -> calls.RenderedTurn:
    services.check_model(call.model)
    return services.chats.of(call.template).render(call.turn, call.state)


@looks_up(calls.ParseToolCall, lambda call: sum(map(len, (call.text, *call.schemas))) > LONG)
def parse_tool_call(services: Services, call: calls.ParseToolCall) -> list[calls.ParsedToolCall]:
    services.check_model(call.model)
    return services.chats.plain.parse_calls(call.text, call.schemas)
