"""Small templates that write tool calls, one for each native format."""

_HEAD = """
{%- if tools %}{{- '<|im_start|>system\\n' + tools | tojson + '<|im_end|>\\n' }}{% endif %}
{%- for m in messages %}
{%- if m.role == 'tool' %}{{- '<|im_start|>tool\\n' + m.content + '<|im_end|>\\n' }}
{%- else %}{{- '<|im_start|>' + m.role + '\\n' + m.content }}
{%- if m.tool_calls %}"""
_TAIL = """
{%- endif %}{{- '<|im_end|>\\n' }}{% endif %}{% endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{% endif %}"""


def _template(calls: str) -> str:
    return _HEAD + calls + _TAIL


FUNCTION_TAGS = _template("""
{%- for c in m.tool_calls %}{{- '\\n' if not loop.first }}{{- '<tool_call>\\n<function=' + c.function.name + '>\\n' }}
{%- for k, v in c.function.arguments.items() %}{{- '<parameter=' + k + '>\\n' }}
{{- (v if v is string else v | tojson) + '\\n</parameter>\\n' }}{% endfor %}
{{- '</function>\\n</tool_call>' }}{% endfor %}""")

KEY_VALUE_TAGS = _template("""
{%- for c in m.tool_calls %}{{- '<tool_call>' + c.function.name }}
{%- for k, v in c.function.arguments.items() %}
{{- '<arg_key>' + k + '</arg_key><arg_value>' + (v if v is string else v | tojson) + '</arg_value>' }}
{%- endfor %}{{- '</tool_call>' }}{% endfor %}""")

KEY_VALUE_LINES = _template("""
{%- for c in m.tool_calls %}{{- '\\n' if not loop.first }}{{- '<tool_call>' + c.function.name + '\\n' }}
{%- for k, v in c.function.arguments.items() %}
{{- '<arg_key>' + k + '</arg_key>\\n<arg_value>' + (v if v is string else v | tojson) + '</arg_value>\\n' }}
{%- endfor %}{{- '</tool_call>' }}{% endfor %}""")
"""As GLM-4.5's and 4.6's: a line for each tag."""

INVOKE_TAGS = _template("""
{{- '<minimax:tool_call>' }}{% for c in m.tool_calls %}{{- '\\n<invoke name="' + c.function.name + '">' }}
{%- for k, v in c.function.arguments.items() %}{{- '\\n<parameter name="' + k + '">' }}
{{- (v if v is string else v | tojson) + '</parameter>' }}{% endfor %}
{{- '\\n</invoke>' }}{% endfor %}{{- '\\n</minimax:tool_call>' }}""")

LIST = _template("""
{{- '[TOOL_CALLS][' }}{% for c in m.tool_calls %}{{- ', ' if not loop.first }}
{{- '{"name": "' + c.function.name + '", "arguments": ' + c.function.arguments | tojson + '}' }}{% endfor %}
{{- ']' }}""")

IDS_LAST = _template("""
{{- '[TOOL_CALLS][' }}{% for c in m.tool_calls %}{{- ', ' if not loop.first }}
{{- '{"name": "' + c.function.name + '", "arguments": ' + c.function.arguments | tojson + ', "id": "' + c.id + '"}' }}
{%- endfor %}{{- ']' }}""")
"""As Mistral Nemo's: each call ends with its id."""

NAME_ARGS = _template("""
{%- for c in m.tool_calls %}
{{- '[TOOL_CALLS]' + c.function.name + '[ARGS]' + c.function.arguments | tojson }}{% endfor %}""")

CALL_IDS = """
{%- for m in messages %}
{%- if m.role == 'user' %}{{- '[INST]' + m.content + '[/INST]' }}
{%- elif m.role == 'tool' %}{{- '[TOOL_RESULTS]' + m.tool_call_id + '[TOOL_CONTENT]' + m.content + '[/TOOL_RESULTS]' }}
{%- else %}{{- m.content }}{% for c in m.tool_calls or [] %}
{{- '[TOOL_CALLS]' + c.function.name + '[CALL_ID]' + c.id + '[ARGS]' + c.function.arguments | tojson }}{% endfor %}
{{- eos_token }}{% endif %}{% endfor %}"""

DEEPSEEK = _template("""
{{- '<｜tool▁calls▁begin｜>' }}{% for c in m.tool_calls %}{{- '<｜tool▁call▁begin｜>' + c.function.name }}
{{- '<｜tool▁sep｜>' + c.function.arguments | tojson + '<｜tool▁call▁end｜>' }}{% endfor %}
{{- '<｜tool▁calls▁end｜>' }}""")
DEEPSEEK_SPECIAL = (
    "<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>",
)  # fmt: skip

DEEPSEEK_TEXTS = """{{- bos_token }}
{%- for m in messages %}
{%- if m.role == 'user' %}{{- '<｜User｜>' + m.content }}
{%- elif m.role == 'tool' %}
{{- ('<｜tool▁outputs▁begin｜>' if loop.previtem.role != 'tool' else '\\n') + '<｜tool▁output▁begin｜>' + m.content }}
{{- '<｜tool▁output▁end｜>' }}{% if loop.last %}{{- '<｜tool▁outputs▁end｜>' }}{% endif %}
{%- elif m.content is none %}{{- '<｜Assistant｜><｜tool▁calls▁begin｜>' }}{% for c in m.tool_calls %}
{{- '\\n' if not loop.first }}{{- '<｜tool▁call▁begin｜>' + c.type + '<｜tool▁sep｜>' + c.function.name }}
{{- '\\n```json\\n' + c.function.arguments + '\\n```<｜tool▁call▁end｜>' }}
{%- if not loop.first %}{{- '<｜tool▁calls▁end｜>' + eos_token }}{% endif %}{% endfor %}
{%- else %}{{- '<｜Assistant｜>' + m.content + eos_token }}{% endif %}{% endfor %}
{%- if add_generation_prompt and messages[-1].role != 'tool' %}{{- '<｜Assistant｜>' }}{% endif %}"""
"""Arguments are put together from text, in a reply without content, a turn ends only after its second call, and
nothing opens the reply to a result."""

WRITTEN_OUT = """
{%- if tools %}{{- '<|im_start|>system\\n<tools>' + tools | tojson + '</tools>\\nAnswer in <tool_call></tool_call>.' }}
{{- '<|im_end|>\\n' }}{% endif %}
{%- for m in messages %}{{- '<|im_start|>' + ('user' if m.role == 'tool' else m.role) + '\\n' }}
{{- m.content + '<|im_end|>\\n' }}{% endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{% endif %}"""
"""As SmolLM3's: tells of calls, and writes none."""

KIMI = _template("""
{{- '<|tool_calls_section_begin|>' }}{% for c in m.tool_calls %}
{{- '<|tool_call_begin|>functions.' + c.function.name + ':0<|tool_call_argument_begin|>' }}
{{- c.function.arguments | tojson + '<|tool_call_end|>' }}{% endfor %}{{- '<|tool_calls_section_end|>' }}""")

LLAMA = """{{- '' }}{# ipython #}""" + _template("""
{%- set f = m.tool_calls[0].function %}{%- if m.tool_calls | length > 1 %}{{ raise_exception('one call') }}{% endif %}
{{- '{"name": "' + f.name + '", ' }}{{- '"parameters": ' }}{{- f.arguments | tojson + '}' }}""")

GEMMA = _template("""
{%- for c in m.tool_calls %}{{- '<|tool_call>call:' + c.function.name + '{' }}
{%- for k, v in c.function.arguments.items() %}{{- k + ':<|"|>' + v + '<|"|>' }}{% endfor %}
{{- '}<tool_call|>' }}{% endfor %}""")

PYTHON_BLOCK = _template("""
{{- '<|tool_call_start|>[' }}{% for c in m.tool_calls %}{{- c.function.name + '(' }}
{%- for k, v in c.function.arguments.items() %}{{- k + '="' + v + '"' }}{% endfor %}{{- ')' }}{% endfor %}
{{- ']<|tool_call_end|>' }}""")

HARMONY = """
{%- for m in messages %}
{%- if m.role == 'tool' %}
{{- '<|start|>functions.' + m.name + ' to=assistant<|channel|>commentary<|message|>' + m.content + '<|end|>' }}
{%- elif m.tool_calls %}{% set f = m.tool_calls[0].function %}
{{- '<|start|>assistant to=' }}{{- 'functions.' + f.name + '<|channel|>commentary ' }}{{- 'json<|message|>' }}
{{- f.arguments | tojson + '<|call|>' }}
{%- elif m.role == 'assistant' %}
{{- '<|start|>assistant<|channel|>final<|message|>' + m.content + ('<|return|>' if loop.last else '<|end|>') }}
{%- else %}{{- '<|start|>' + m.role + '<|message|>' + m.content + '<|end|>' }}{% endif %}{% endfor %}
{%- if add_generation_prompt %}{{- '<|start|>assistant' }}{% endif %}"""

HARMONY_THOUGHTS = HARMONY.replace(
    "{{- '<|start|>assistant to=' }}",
    "{%- if m.content %}{{- '<|start|>assistant<|channel|>analysis<|message|>' + m.content + '<|end|>' }}{% endif %}"
    "{{- '<|start|>assistant to=' }}",
)
"""As it is published: what a turn says before it calls is a message of its own."""

SAME_TURN = """{{- bos_token }}
{%- for m in messages %}
{%- if m.role == 'tool' %}{{- '<|result>' + m.content + '<result|>' }}
{%- elif m.tool_calls %}{{- '<|turn>model\\n' }}{% for c in m.tool_calls %}
{{- '<|tool_call>call:' + c.function.name + '{city:<|"|>' + c.function.arguments.city + '<|"|>}<tool_call|>' }}
{%- endfor %}{%- elif m.role == 'assistant' %}
{{- ('' if loop.previtem.role == 'tool' else '<|turn>model\\n') + m.content + '<turn|>\\n' }}
{%- else %}{{- '<|turn>' + m.role + '\\n' + m.content + '<turn|>\\n' }}{% endif %}{% endfor %}
{%- if add_generation_prompt and messages[-1].role != 'tool' %}{{- '<|turn>model\\n' }}{% endif %}"""
SAME_TURN_SPECIAL = ("<|turn>", "<turn|>", "<|result>", "<result|>")
"""As Gemma 4's: calls, results and the reply to them are one turn, and a call ends where its result begins."""
