"""Models, tokenizers and chat rendering."""

from pie_mlx import calls
from pie_mlx.engine.answers.base import answers
from pie_mlx.engine.process import Process
from pie_mlx.engine.services import Services


@answers(calls.DescribeRuntime)
async def describe_runtime(services: Services, process: Process, call: calls.DescribeRuntime) -> calls.RuntimeInfo:
    del call
    return calls.RuntimeInfo(
        version=services.version,
        instance_id=services.instance_id,
        username=process.username,
        models=[services.model_name],
    )


@answers(calls.LoadModel)
async def load_model(services: Services, process: Process, call: calls.LoadModel) -> calls.ModelInfo:
    del process
    services.check_model(call.name)
    return services.model_info


@answers(calls.Encode)
async def encode(services: Services, process: Process, call: calls.Encode) -> list[int]:
    del process
    services.check_model(call.model)
    return services.tokenizer.encode(call.text)


@answers(calls.Decode)
async def decode(services: Services, process: Process, call: calls.Decode) -> str:
    del process
    services.check_model(call.model)
    services.check_tokens(call.tokens)
    return services.tokenizer.decode(call.tokens)


@answers(calls.ReadVocabulary)
async def read_vocabulary(services: Services, process: Process, call: calls.ReadVocabulary) -> calls.Vocabulary:
    del process
    services.check_model(call.model)
    return services.tokenizer.special_tokens() if call.special_only else services.tokenizer.vocabulary()


@answers(calls.ReadSplitRegex)
async def read_split_regex(services: Services, process: Process, call: calls.ReadSplitRegex) -> str:
    del process
    services.check_model(call.model)
    return services.tokenizer.split_regex()


@answers(calls.RenderTurn)
async def render_turn(services: Services, process: Process, call: calls.RenderTurn) -> calls.RenderedTurn:
    del process
    services.check_model(call.model)
    return services.chat.render(call.turn, call.state)


@answers(calls.ParseToolCall)
async def parse_tool_call(
    services: Services, process: Process, call: calls.ParseToolCall
) -> list[calls.ParsedToolCall]:
    del process
    services.check_model(call.model)
    return services.chat.parse_calls(call.text, call.schemas)
