"""Small chat templates written for these tests, one for each way in which published ones differ."""

CHATML_DEFAULT_SYSTEM = """
{%- if messages[0].role != 'system' %}{{- '<|im_start|>system\\nYou help.<|im_end|>\\n' }}{% endif %}
{%- for m in messages %}{{- '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}{% endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{% endif %}"""

THINKING = """
{%- for m in messages %}
{%- if m.role == 'assistant' %}
{{- '<|im_start|>assistant\\n' + ('<think>\\n\\n</think>\\n\\n' if loop.last else '') }}
{{- m.content.split('</think>')[-1].lstrip('\\n') + '<|im_end|>\\n' }}
{%- else %}{{- '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}{% endif %}{% endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{% endif %}"""

CUE_OPENS_THINKING = """
{%- if not messages | selectattr('role', 'equalto', 'user') | list %}{{ raise_exception('no user') }}{% endif %}
{%- for m in messages %}{{- '<|im_start|>' + m.role + '\\n' + m.content | trim + '<|im_end|>\\n' }}{% endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n<think>\\n' }}{% endif %}"""

LLAMA = """
{{- bos_token }}
{%- if messages[0].role == 'system' %}{% set s = messages[0].content | trim %}{% set messages = messages[1:] %}
{%- else %}{% set s = '' %}{% endif %}
{{- '<|header|>system<|/header|>\\n\\nToday: ' + date_string + '\\n\\n' }}{% if tools %}{{- 'Tools.\\n' }}{% endif %}
{{- s + '<|eot|>' }}
{%- if tools %}{% set first = messages[0].content | trim %}{% set messages = messages[1:] %}
{{- '<|header|>user<|/header|>\\n\\nFunctions:\\n' }}
{%- for t in tools %}{{- t | tojson(indent=4) + '\\n\\n' }}{% endfor %}{{- first + '<|eot|>' }}{% endif %}
{%- for m in messages %}
{%- if m.tool_calls %}{% set f = m.tool_calls[0].function %}
{{- '<|header|>assistant<|/header|>\\n\\n{"name": "' + f.name + '", "parameters": ' }}
{{- f.arguments | tojson + '}<|eot|>' }}
{%- elif m.role == 'tool' %}{{- '<|header|>ipython<|/header|>\\n\\n' + m.content | tojson + '<|eot|>' }}
{%- else %}{{- '<|header|>' + m.role + '<|/header|>\\n\\n' + m.content | trim + '<|eot|>' }}{% endif %}{% endfor %}
{%- if add_generation_prompt %}{{- '<|header|>assistant<|/header|>\\n\\n' }}{% endif %}"""
LLAMA_SPECIAL = ("<|header|>", "<|/header|>", "<|eot|>")

GEMMA = """
{{- bos_token }}
{%- if messages[0].role == 'system' %}{% set s = messages[0].content + '\\n\\n' %}{% set messages = messages[1:] %}
{%- else %}{% set s = '' %}{% endif %}
{%- for m in messages %}
{%- if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}
{{- '<|turn|>' + ('model' if m.role == 'assistant' else m.role) + '\\n' + (s if loop.first else '') }}
{{- m.content | trim + '<|/turn|>\\n' }}{% endfor %}
{%- if add_generation_prompt %}{{- '<|turn|>model\\n' }}{% endif %}"""
GEMMA_SPECIAL = ("<|turn|>", "<|/turn|>")

MISTRAL = """
{{- bos_token }}
{%- if messages[0].role == 'system' %}{% set s = messages[0].content %}{% set messages = messages[1:] %}{% endif %}
{%- for m in messages %}
{%- if m.role == 'user' %}
{%- if tools and loop.last %}{{- '[TOOLS]' + tools | tojson + '[/TOOLS]' }}{% endif %}
{{- '[INST]' + ((s + '\\n\\n') if loop.last and s is defined else '') + m.content + '[/INST]' }}
{%- elif m.tool_calls %}{{- '[CALLS]' }}
{%- for c in m.tool_calls %}{% if c.id | length != 9 %}{{ raise_exception('id') }}{% endif %}
{{- '[{"name": "' + c.function.name + '", "arguments": ' + c.function.arguments | tojson + '}]' }}{% endfor %}
{{- eos_token }}
{%- elif m.role == 'tool' %}{{- '[RESULTS]{"content": ' + m.content + '}[/RESULTS]' }}
{%- else %}{{- m.content + eos_token }}{% endif %}{% endfor %}"""
MISTRAL_SPECIAL = ("[INST]", "[/INST]", "[TOOLS]", "[/TOOLS]", "[CALLS]", "[RESULTS]", "[/RESULTS]")

OLD_MISTRAL = """
{{- bos_token }}{%- for m in messages %}
{%- if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}
{%- if m.role == 'user' %}{{- '[INST] ' + m.content + ' [/INST]' }}
{%- else %}{{- ' ' + m.content + eos_token }}{% endif %}{% endfor %}"""

DEEPSEEK = """
{{- bos_token }}{%- for m in messages %}
{%- if m.role == 'system' %}{{- m.content }}{% endif %}
{%- if m.role == 'user' %}{{- '<|User|>' + m.content }}{% endif %}
{%- if m.role == 'assistant' %}{{- '<|Assistant|>' + m.content + '<|eos|>' }}{% endif %}{% endfor %}
{%- if add_generation_prompt %}{{- '<|Assistant|><think>\\n' }}{% endif %}"""
DEEPSEEK_SPECIAL = ("<|User|>", "<|Assistant|>", "<|eos|>")

GLM = """
{{- '[gMASK]' }}{%- for m in messages %}
{{- '<|' + m.role + '|>\\n' + m.content }}{% endfor %}
{%- if add_generation_prompt %}{{- '<|assistant|>\\n' }}{% endif %}"""
GLM_SPECIAL = ("[gMASK]", "<|system|>", "<|user|>", "<|assistant|>", "<|observation|>")

HARMONY = """
{{- '<|start|>system<|message|>Date: ' + strftime_now('%Y-%m-%d') + '<|end|>' }}
{%- for m in messages %}
{%- if m.role == 'system' %}{{- '<|start|>developer<|message|># Instructions\\n\\n' + m.content + '<|end|>' }}
{%- elif m.role == 'assistant' %}
{{- '<|start|>assistant<|channel|>final<|message|>' + m.content + ('<|return|>' if loop.last else '<|end|>') }}
{%- else %}{{- '<|start|>' + m.role + '<|message|>' + m.content + '<|end|>' }}{% endif %}{% endfor %}
{%- if add_generation_prompt %}{{- '<|start|>assistant' }}{% endif %}"""
HARMONY_SPECIAL = ("<|start|>", "<|message|>", "<|end|>", "<|channel|>", "<|return|>", "<|call|>", "<|constrain|>")

PLAIN_WORDS = """
{%- for m in messages %}
{%- if m.role == 'system' %}{{- m.content + '\\n\\n' }}
{%- elif m.role == 'user' %}{{- 'USER: ' + m.content + ' ' }}
{%- else %}{{- 'ASSISTANT: ' + m.content + eos_token }}{% endif %}{% endfor %}
{%- if add_generation_prompt %}{{- 'ASSISTANT:' }}{% endif %}"""

ENDS_WITH_EOS = """
{%- for m in messages %}{{- '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}{% endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{% else %}{{- '<|endoftext|>' }}{% endif %}"""

TURN_TAGS_AND_EOS = """
{%- for m in messages %}{{- '<|' + m.role + '|>\\n' + m.content + '<|end|>\\n' }}{% endfor %}
{%- if add_generation_prompt %}{{- '<|assistant|>\\n' }}{% else %}{{- eos_token }}{% endif %}"""
TURN_TAGS_SPECIAL = ("<|system|>", "<|user|>", "<|assistant|>", "<|end|>")

SEPARATED_ROLES = """
{%- for m in messages %}{{- '<|im_start|>' + m.role + '<|im_sep|>' + m.content + '<|im_end|>' }}{% endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant<|im_sep|>' }}{% endif %}"""

METADATA = """
{%- if messages[0].role == 'system' %}{% set s = messages[0].content | trim %}{% set messages = messages[1:] %}
{%- else %}{% set s = 'You help.' %}{% endif %}
{{- '<|im_start|>system\\n## Metadata\\n\\nToday: ' + strftime_now('%d %B %Y') + '\\nReasoning: ' }}
{{- '/think' if enable_thinking is not defined or enable_thinking else '/no_think' }}
{{- '\\n\\n## Instructions\\n\\n' + s + '\\n\\n<|im_end|>\\n' }}
{%- for m in messages %}
{%- if m.role == 'assistant' %}{{- '<|im_start|>assistant\\n' + m.content.lstrip('\\n') + '<|im_end|>\\n' }}
{%- else %}{{- '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}{% endif %}{% endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{% endif %}"""

NO_SYSTEM = """
{{- bos_token }}{%- if messages[0].role == 'system' %}{{- raise_exception('no system role') }}{% endif %}
{%- for m in messages %}
{%- if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}
{{- '<|turn|>' + ('model' if m.role == 'assistant' else m.role) + '\\n' + m.content | trim + '<|/turn|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|turn|>model\\n' }}{% endif %}"""

CONTENT_PARTS = """
{%- for m in messages %}{{- '<|im_start|>' + m.role + '\\n' }}
{%- for part in m.content %}{% if part.type == 'text' %}{{- part.text }}{% endif %}{% endfor %}
{{- '<|im_end|>\\n' }}{% endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{% endif %}"""

COUNTS_TURNS = """
{%- for m in messages %}{{- '<|im_start|>' + m.role + ' ' + loop.index | string + '\\n' + m.content + '<|im_end|>\\n' }}
{%- endfor %}{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{% endif %}"""

REWRITES_ALL = """
{%- for m in messages %}{{- m.content | upper + '|' }}{% endfor %}"""

HERMES = """
{%- if tools %}{{- '<|im_start|>system\\n' }}
{%- if messages[0].role == 'system' %}{{- messages[0].content + '\\n\\n' }}{% set messages = messages[1:] %}{% endif %}
{{- '<tools>' }}{% for t in tools %}{{- '\\n' + t | tojson }}{% endfor %}{{- '\\n</tools><|im_end|>\\n' }}{% endif %}
{%- for m in messages %}
{%- if m.role == 'tool' %}
{%- if loop.previtem.role != 'tool' %}{{- '<|im_start|>user' }}{% endif %}
{{- '\\n<tool_response>\\n' + m.content + '\\n</tool_response>' }}
{%- if loop.last or loop.nextitem.role != 'tool' %}{{- '<|im_end|>\\n' }}{% endif %}
{%- else %}{{- '<|im_start|>' + m.role + '\\n' + m.content }}
{%- for c in m.tool_calls or [] %}
{{- '' if loop.first and not m.content else '\\n' }}{{- '<tool_call>\\n{"name": "' + c.function.name }}
{{- '", "arguments": ' }}
{{- c.function.arguments | tojson + '}\\n</tool_call>' }}{% endfor %}{{- '<|im_end|>\\n' }}{% endif %}{% endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{% endif %}"""

EMPTY_THOUGHT_LAST = HERMES.replace(
    "m.role + '\\n' + m.content }}",
    "m.role + '\\n' + ('<think>\\n\\n</think>\\n\\n' if m.tool_calls and loop.last else '') + m.content }}",
)
"""As Qwen3's: an empty thought before calls that end the conversation, and none before calls with results."""
