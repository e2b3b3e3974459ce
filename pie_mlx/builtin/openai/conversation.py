"""Messages of a request, written into a context."""

from fields import Assistant, Developer, System, Tool, User
from refusals import Refusal


def write_messages(context, messages, schemas):
    """Everything up to the point where the model speaks. Raises Refusal, and the engine's TemplateError."""
    if schemas:
        context.equip_tools(schemas)
    names = {}
    for place, message in enumerate(messages):
        match message:
            case System(content=content) | Developer(content=content):
                context.system(plain_text(content))
            case User(content=content):
                context.user(plain_text(content))
            case Assistant():
                calls = message.tool_calls or []
                names.update({call.id: call.function.name for call in calls})
                text = plain_text(message.content or message.refusal or "")
                context.assistant(text, [(call.function.name, call.function.arguments) for call in calls])
            case Tool(content=content, tool_call_id=call):
                if message.name not in (None, names.get(call)) or call not in names:
                    raise Refusal(
                        400,
                        f"no message before this one makes the tool call '{call}' this one answers",
                        param=f"messages[{place}].tool_call_id",
                    )
                context.answer_tool(names[call], plain_text(content))
    context.cue()


def plain_text(content):
    """The text of a message, whose parts can only be text."""
    return content if isinstance(content, str) else "".join(part.text for part in content)
