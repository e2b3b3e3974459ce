"""Variables that programs set in a chat template."""

import pytest

from pie_mlx.calls import ChatState, Turn
from pie_mlx.engine.text.conversation.chats import LONGEST, MOST_KEPT, Chats
from pie_mlx.engine.text.templates.template import ChatTemplate
from pie_mlx.errors import InvalidArgumentError
from tests.engine.text import chat_templates
from tests.engine.text.conftest import Factory

EFFORT = """
{%- if effort is not defined %}{% set effort = 'medium' %}{% endif %}
{%- for m in messages %}{% set said = m.content | trim %}
{{- '<|im_start|>' + m.role + '\\n' + said + '<|im_end|>\\n' }}{% endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n[' + effort + (mood | default('!')) + ']' }}{% endif %}"""


def cue(chats: Chats, variables: str) -> str:
    tokens = chats.of(variables).render(Turn("cue"), ChatState("user")).tokens
    return chats.plain.tokenizer.decode(tokens)


def test_a_template_reads_what_it_asks_for_and_not_what_it_sets_itself():
    assert ChatTemplate.from_text(EFFORT).variables == {"effort", "mood"}
    assert ChatTemplate.from_text(chat_templates.METADATA).variables == {"enable_thinking", "date"}
    assert ChatTemplate.from_text(chat_templates.NO_SYSTEM, {"bos_token": "<s>"}).variables == set()


def test_turns_are_written_with_the_variables(make_tokenizer: Factory):  # D1
    chats = Chats(make_tokenizer(EFFORT))
    assert cue(chats, "").endswith("[medium!]")
    assert cue(chats, '{"effort": "high"}').endswith("[high!]")
    assert cue(chats, '{"effort": "low", "mood": "?"}').endswith("[low?]")


def test_a_conversation_with_variables_is_that_of_the_template(make_tokenizer: Factory):  # D1
    chats = Chats(make_tokenizer(chat_templates.METADATA))
    chat = chats.of('{"enable_thinking": false}')
    tokens, state = list[int](), ChatState()
    for turn in (Turn("system", "Be brief."), Turn("user", "Hello"), Turn("cue")):
        rendered = chat.render(turn, state)
        tokens, state = tokens + rendered.tokens, rendered.state
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}]
    text = chats.plain.tokenizer.decode(tokens)
    assert text == chat.template.render(messages, cue=True)
    assert text == chats.plain.template.render(messages, cue=True).replace("/think", "/no_think")


@pytest.mark.parametrize("name", ["thinking", "messages", "add_generation_prompt"])
def test_a_variable_that_the_template_does_not_read_is_refused_with_those_it_reads(make_tokenizer: Factory, name: str):
    chats = Chats(make_tokenizer(EFFORT))
    with pytest.raises(InvalidArgumentError, match=f"reads no '{name}'") as caught:
        chats.of(f'{{"{name}": 1}}')
    assert caught.value.hint == "those it reads: effort, mood"


@pytest.mark.parametrize("text", ["[1]", "{", f'{{"effort": "{"x" * LONGEST}"}}'])
def test_what_is_no_object_or_too_long_is_refused(make_tokenizer: Factory, text: str):
    with pytest.raises(InvalidArgumentError):
        Chats(make_tokenizer(EFFORT)).of(text)


def test_renderers_are_kept_up_to_a_bound(make_tokenizer: Factory):
    chats = Chats(make_tokenizer(EFFORT))
    first = chats.of('{"effort": "0"}')
    assert chats.of('{"effort": "0"}') is first
    for number in range(1, MOST_KEPT + 1):
        chats.of(f'{{"effort": "{number}"}}')
    assert chats.of('{"effort": "0"}') is not first
