"""Translate a request for a response to one for a chat."""

from generation.conversation import plain_text
from wire.fields import (
    Assistant,
    CalledFunction,
    ChatRequest,
    Developer,
    DrawnBody,
    Function,
    NamedChoice,
    NamedFunction,
    OfferedTool,
    Schema,
    SchemaFormat,
    System,
    Tool,
    ToolCall,
    User,
)
from wire.terms import Terms

from responses.fields import FlatSchemaFormat, FunctionCall, FunctionCallOutput, Message, NamedTool

ROLES = {"assistant": Assistant, "developer": Developer, "system": System, "user": User}


def chat_of(request):
    """The chat, and the names of its parts in a request for a response."""
    turns = _turns(request)
    drawn = {name: getattr(request, name) for name in DrawnBody.__struct_fields__}
    chat = ChatRequest(
        **drawn,
        messages=[message for _, message in turns],
        max_completion_tokens=request.max_output_tokens,
        tools=[_tool(tool) for tool in request.tools],
        tool_choice=_choice(request.tool_choice),
        parallel_tool_calls=request.parallel_tool_calls,
        response_format=_format(request.text.format),
        logprobs=bool(request.include),
        top_logprobs=request.top_logprobs,
        reasoning_effort=request.reasoning.effort,
        chat_template_kwargs=request.chat_template_kwargs,
    )
    places = [place for place, _ in turns]
    return chat, Terms("input", "text.format", "tools[].strict", "call_id", "reasoning.effort", places)


def _turns(request):
    """Messages, each with the index of its first item."""
    turns = [(0, System(content=request.instructions))] if request.instructions else []
    if isinstance(request.input, str):
        return [*turns, (0, User(content=request.input))]
    for place, item in enumerate(request.input):
        match item:
            case Message(role=role, content=content):
                turns.append((place, ROLES[role](content=plain_text(content))))
            case FunctionCall():
                _add_call(turns, place, item)
            case FunctionCallOutput(call_id=call, output=output, name=name):
                turns.append((place, Tool(content=plain_text(output), tool_call_id=call, name=name)))
    return turns


def _add_call(turns, place, item):
    """Add a call to the preceding turn of the assistant, or to a new one."""
    if not turns or not isinstance(turns[-1][1], Assistant):
        turns.append((place, Assistant()))
    message = turns[-1][1]
    call = ToolCall(id=item.call_id, function=CalledFunction(name=item.name, arguments=item.arguments))
    message.tool_calls = [*(message.tool_calls or []), call]


def _tool(tool):
    function = Function(name=tool.name, description=tool.description, parameters=tool.parameters, strict=tool.strict)
    return OfferedTool(type="function", function=function)


def _choice(choice):
    if isinstance(choice, NamedTool):
        return NamedChoice(type="function", function=NamedFunction(name=choice.name))
    # The default of a chat too, with tools and without.
    return None if choice == "auto" else choice


def _format(format):
    if not isinstance(format, FlatSchemaFormat):
        return format
    schema = Schema(name=format.name, schema=format.schema, description=format.description, strict=format.strict)
    return SchemaFormat(json_schema=schema)
