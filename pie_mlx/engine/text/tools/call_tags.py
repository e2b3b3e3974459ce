"""How the formats with tagged parameters write their calls."""

from dataclasses import dataclass

BREAK = "\ue000"
"""In a tag: a line break that some templates of the format write, and others do not."""


@dataclass(frozen=True, slots=True)
class CallTags:
    """Text in its order. `call` names a tool by {name}, `parameter` what follows by {key}; values end with
    `parameter_end`. A block holds one call, or several where `many`."""

    block: str
    call: str
    parameter: str
    parameter_end: str
    call_end: str
    block_end: str
    many: bool = False


FUNCTION_TAGS = CallTags(
    "<tool_call>\n", "<function={name}>\n", "<parameter={key}>\n", "\n</parameter>\n", "</function>\n", "</tool_call>"
)
KEY_VALUE_TAGS = CallTags(
    "<tool_call>",
    "{name}" + BREAK,
    f"<arg_key>{{key}}</arg_key>{BREAK}<arg_value>",
    "</arg_value>" + BREAK,
    "",
    "</tool_call>",
)
INVOKE_TAGS = CallTags(
    "<minimax:tool_call>\n",
    '<invoke name="{name}">\n',
    '<parameter name="{key}">',
    "</parameter>\n",
    "</invoke>\n",
    "</minimax:tool_call>",
    many=True,
)
