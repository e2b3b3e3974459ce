"""Conversations written turn by turn equal the template's rendering of the whole."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pie_mlx.calls import ChatState, Role, Turn
from pie_mlx.engine.text.conversation.chat import ChatRenderer
from pie_mlx.errors import InvalidArgumentError, TemplateError
from tests.engine.text import chat_templates
from tests.engine.text.conftest import Factory

# Qwen2.5: default_system, hermes. Qwen3: thinking; Qwen3.5: cue_opens_thinking. Llama 3.x: llama. Gemma 2: no_system,
# Gemma 3: gemma. Mistral: old_mistral, mistral. Phi-3: turn_tags_and_eos, Phi-4: separated_roles. gpt-oss: harmony.
# SmolLM3: metadata. GLM-4: glm.
FAMILIES = {
    "chatml": (None, ()),
    "default_system": (chat_templates.CHATML_DEFAULT_SYSTEM, ()),
    "thinking": (chat_templates.THINKING, ()),
    "cue_opens_thinking": (chat_templates.CUE_OPENS_THINKING, ()),
    "llama": (chat_templates.LLAMA, chat_templates.LLAMA_SPECIAL),
    "gemma": (chat_templates.GEMMA, chat_templates.GEMMA_SPECIAL),
    "mistral": (chat_templates.MISTRAL, chat_templates.MISTRAL_SPECIAL),
    "old_mistral": (chat_templates.OLD_MISTRAL, ()),
    "deepseek": (chat_templates.DEEPSEEK, chat_templates.DEEPSEEK_SPECIAL),
    "glm": (chat_templates.GLM, chat_templates.GLM_SPECIAL),
    "harmony": (chat_templates.HARMONY, chat_templates.HARMONY_SPECIAL),
    "plain_words": (chat_templates.PLAIN_WORDS, ()),
    "ends_with_eos": (chat_templates.ENDS_WITH_EOS, ()),
    "content_parts": (chat_templates.CONTENT_PARTS, ()),
    "turn_tags_and_eos": (chat_templates.TURN_TAGS_AND_EOS, chat_templates.TURN_TAGS_SPECIAL),
    "separated_roles": (chat_templates.SEPARATED_ROLES, ("<|im_sep|>",)),
    "metadata": (chat_templates.METADATA, ()),
    "no_system": (chat_templates.NO_SYSTEM, chat_templates.GEMMA_SPECIAL),
    "hermes": (chat_templates.HERMES, ()),
}
END_TOKENS = {"old_mistral": "</s>", "mistral": "</s>", "plain_words": "</s>", "deepseek": "<|eos|>"}
END_TOKENS |= {"turn_tags_and_eos": "<|endoftext|>", "no_system": "<|/turn|>"}
MOVES_SYSTEM_TO_LAST_USER = {"mistral"}
HAS_NO_SYSTEM = {"old_mistral", "no_system"}
TOOL = '{"name": "f", "parameters": {"type": "object", "properties": {"x": {"type": "integer"}}}}'


def renderer(make: Factory, name: str) -> ChatRenderer:
    template, special = FAMILIES[name]
    return ChatRenderer(make(template, special, bos_token="<s>", eos_token=END_TOKENS.get(name, "<|im_end|>")))


def write(chat: ChatRenderer, turns: Sequence[Turn], state: ChatState = ChatState()) -> list[int]:  # noqa: B008
    tokens: list[int] = []
    for turn in turns:
        rendered = chat.render(turn, state)
        tokens, state = tokens + rendered.tokens, rendered.state
    return tokens


def text_of(chat: ChatRenderer, turns: Sequence[Turn], state: ChatState = ChatState()) -> str:  # noqa: B008
    return chat.tokenizer.decode(write(chat, turns, state))


def conversation(contents: Sequence[str], system: str | None = None) -> list[tuple[Role, str]]:
    roles: tuple[Role, Role] = ("user", "assistant")
    turns = [(roles[i % 2], content) for i, content in enumerate(contents)]
    return turns if system is None else [("system", system), *turns]


def whole(chat: ChatRenderer, turns: Sequence[tuple[Role, str]]) -> str:
    return chat.template.render([{"role": role, "content": text} for role, text in turns], cue=True)


def as_turns(turns: Sequence[tuple[Role, str]]) -> list[Turn]:
    return [*(Turn(role, text) for role, text in turns), Turn("cue")]


@pytest.mark.parametrize("name", FAMILIES)
def test_turns_and_cue_equal_the_whole_rendering(make_tokenizer: Factory, name: str) -> None:  # D1
    chat = renderer(make_tokenizer, name)
    turns = conversation(["Hello", "1", "\nHow?", "Fine.", "Good"])
    assert chat.mode == "fragments"
    assert write(chat, as_turns(turns)) == chat.tokenizer.encode(whole(chat, turns))


@pytest.mark.parametrize("name", sorted(FAMILIES.keys() - MOVES_SYSTEM_TO_LAST_USER - HAS_NO_SYSTEM))
def test_a_system_message_goes_where_the_template_puts_it(make_tokenizer: Factory, name: str) -> None:  # D1
    chat = renderer(make_tokenizer, name)
    turns = conversation(["Hello", "1", "How?"], system="Be brief.")
    assert write(chat, as_turns(turns)) == chat.tokenizer.encode(whole(chat, turns))


def test_a_system_message_the_template_refuses_goes_before_the_first_question(make_tokenizer: Factory) -> None:
    chat = renderer(make_tokenizer, "old_mistral")
    assert (
        text_of(chat, [Turn("system", "Be brief."), Turn("user", "Hi"), Turn("cue")])
        == "<s>[INST] Be brief.\n\nHi [/INST]"
    )


def test_a_template_that_moves_the_system_text_has_it_once_with_the_first_question(make_tokenizer: Factory) -> None:
    chat = renderer(make_tokenizer, "mistral")
    turns = [Turn("system", "S"), Turn("user", "A"), Turn("assistant", "B"), Turn("user", "C"), Turn("cue")]
    assert text_of(chat, turns) == "<s>[INST]S\n\nA[/INST]B</s>[INST]C[/INST]"


@pytest.mark.parametrize("name", FAMILIES)
@settings(max_examples=8)
@given(
    contents=st.lists(st.text(alphabet="ab \n.é你", min_size=1).filter(str.strip), min_size=1, max_size=5).filter(
        lambda contents: len(contents) % 2 == 1
    )
)
def test_any_chat_equals_its_whole_rendering(make_tokenizer: Factory, name: str, contents: list[str]) -> None:  # D1
    chat = _cached(make_tokenizer, name)
    turns = conversation(contents)
    if name in ("thinking", "metadata"):  # their templates strip leading line breaks of replies
        turns = [(role, text.lstrip("\n") or "x") for role, text in turns]
    assert text_of(chat, as_turns(turns)) == whole(chat, turns)


_RENDERERS: dict[str, ChatRenderer] = {}


def _cached(make: Factory, name: str) -> ChatRenderer:
    return _RENDERERS.setdefault(name, renderer(make, name))


@pytest.mark.parametrize("name", ["chatml", "old_mistral", "plain_words"])
def test_sentencepiece_turns_tokenise_as_the_whole(make_sentencepiece: Factory, name: str) -> None:
    chat = ChatRenderer(make_sentencepiece(FAMILIES[name][0]))
    turns = conversation(["Hello there", "Fine", "How are you?", "Good", "Be brief"])
    assert write(chat, as_turns(turns)) == chat.tokenizer.encode(whole(chat, turns))


def test_a_template_that_counts_its_turns_is_written_from_the_history(make_tokenizer: Factory) -> None:  # D1
    chat = ChatRenderer(make_tokenizer(chat_templates.COUNTS_TURNS))
    turns = conversation(["Hello", "1", "How?", "2", "So"], system="Be brief.")
    assert chat.mode == "stateful"
    assert text_of(chat, as_turns(turns)) == whole(chat, turns)


def test_a_generated_reply_stands_between_cue_and_seal_of_a_stateful_template(make_tokenizer: Factory) -> None:
    chat = ChatRenderer(make_tokenizer(chat_templates.COUNTS_TURNS))
    turns = [Turn("user", "Hi"), Turn("cue"), Turn("seal"), Turn("user", "So")]
    assert text_of(chat, turns).endswith("assistant\n<|im_end|>\n<|im_start|>user 3\nSo")


def test_a_template_that_rewrites_contents_is_refused_with_the_place(make_tokenizer: Factory) -> None:  # D1
    chat = ChatRenderer(make_tokenizer(chat_templates.REWRITES_ALL))
    with pytest.raises(TemplateError, match="chat template"):
        chat.render(Turn("user", "x"), ChatState())


def test_a_template_with_a_syntax_error_is_refused_with_its_line(make_tokenizer: Factory) -> None:
    with pytest.raises(TemplateError, match="line 2"):
        ChatRenderer(make_tokenizer("a\n{% if %}"))


def test_a_template_that_writes_an_unknown_variable_is_refused_by_its_name(make_tokenizer: Factory) -> None:
    chat = ChatRenderer(make_tokenizer(chat_templates.CHATML_DEFAULT_SYSTEM + "{{ nobody }}"))
    with pytest.raises(TemplateError, match="nobody"):
        chat.render(Turn("user", "x"), ChatState())


def test_a_template_may_ask_for_what_is_not_there(make_tokenizer: Factory) -> None:
    asks = "{% if nobody is defined or nobody %}{{ nobody }}{% endif %}{{ unk_token }}{{ messages[0].name }}"
    chat = ChatRenderer(make_tokenizer(asks + chat_templates.CHATML_DEFAULT_SYSTEM))
    assert text_of(chat, [Turn("user", "x"), Turn("cue")]).endswith("x<|im_end|>\n<|im_start|>assistant\n")


def test_seal_is_the_end_of_the_turn_only(make_tokenizer: Factory) -> None:  # D1
    ends = {"chatml": "<|im_end|>", "llama": "<|eot|>", "gemma": "<|/turn|>", "harmony": "<|end|>", "glm": ""}
    for name, end in ends.items():
        assert text_of(renderer(make_tokenizer, name), [Turn("seal")], ChatState("cue")) == end


def test_stop_tokens_end_a_reply(make_tokenizer: Factory) -> None:  # G2
    ends = {"llama": "<|eot|>", "gemma": "<|/turn|>", "harmony": "<|return|>", "glm": "<|user|>", "deepseek": "<|eos|>"}
    for name, end in ends.items():
        chat = renderer(make_tokenizer, name)
        assert chat.tokenizer.id_of(end) in chat.stop_tokens, name
    harmony = renderer(make_tokenizer, "harmony")
    assert harmony.tokenizer.id_of("<|end|>") not in harmony.stop_tokens


def test_end_tokens_of_the_generation_config_stop_too(make_tokenizer: Factory) -> None:
    assert {7, 9} <= set(ChatRenderer(make_tokenizer(), [7, 9]).stop_tokens)


def test_text_after_a_generated_reply_continues_the_sealed_turn(make_tokenizer: Factory) -> None:
    chat = renderer(make_tokenizer, "chatml")
    assert text_of(chat, [Turn("seal"), Turn("user", "x")], ChatState("cue")) == (
        "<|im_end|>\n<|im_start|>user\nx<|im_end|>\n"
    )


def test_contents_cannot_spell_control_tokens(make_tokenizer: Factory) -> None:
    chat = renderer(make_tokenizer, "chatml")
    tokens = write(chat, [Turn("user", "a<|im_end|>b")])
    assert tokens.count(chat.tokenizer.id_of("<|im_end|>") or -1) == 1
    assert "a<|im_end|>b" in chat.tokenizer.decode(tokens)


def test_a_system_text_cannot_spell_control_tokens(make_tokenizer: Factory) -> None:
    chat = renderer(make_tokenizer, "gemma")
    tokens = write(chat, [Turn("system", "a<|/turn|>b"), Turn("user", "x")])
    assert tokens.count(chat.tokenizer.id_of("<|/turn|>") or -1) == 1


@pytest.mark.parametrize("spelled", ["<|im_end|>", r"\u003c|im_end|\u003e"])
def test_a_tool_schema_cannot_spell_control_tokens(make_tokenizer: Factory, spelled: str) -> None:
    chat = renderer(make_tokenizer, "hermes")
    schema = f'{{"name": "stop", "description": "Writes {spelled}.", "parameters": {{}}}}'
    tokens = write(chat, [Turn("tools", schemas=[schema]), Turn("user", "x")])
    assert tokens.count(chat.tokenizer.id_of("<|im_end|>") or -1) == 2
    assert "Writes <|im_end|>." in chat.tokenizer.decode(tokens)


def test_a_tool_cannot_be_named_after_a_control_token(make_tokenizer: Factory) -> None:
    with pytest.raises(InvalidArgumentError, match="no name of a tool"):
        renderer(make_tokenizer, "hermes").render(Turn("tools", schemas=['{"name": "a<|im_end|>"}']), ChatState())


@pytest.mark.parametrize("schema", ["[", "[]", "{}", '{"function": 3}'])
def test_a_malformed_tool_schema_is_refused(make_tokenizer: Factory, schema: str) -> None:
    with pytest.raises(InvalidArgumentError, match="tool schema"):
        renderer(make_tokenizer, "hermes").render(Turn("tools", schemas=[schema]), ChatState())


def test_two_tools_of_one_name_are_refused(make_tokenizer: Factory) -> None:
    with pytest.raises(InvalidArgumentError, match="two tools"):
        renderer(make_tokenizer, "hermes").render(Turn("tools", schemas=[TOOL, TOOL]), ChatState())


@pytest.mark.parametrize("name", ["chatml", "gemma", "glm", "thinking"])
def test_tools_that_a_template_does_not_write_are_refused(make_tokenizer: Factory, name: str) -> None:  # D7
    with pytest.raises(TemplateError, match="no tools"):
        renderer(make_tokenizer, name).render(Turn("tools", schemas=[TOOL]), ChatState())


def test_tools_and_system_are_held_until_the_first_question(make_tokenizer: Factory) -> None:
    chat = renderer(make_tokenizer, "hermes")
    text = text_of(chat, [Turn("system", "Be brief."), Turn("tools", schemas=[TOOL]), Turn("user", "Hi")])
    assert text.startswith("<|im_start|>system\nBe brief.\n\n<tools>\n{")
    assert text.endswith("</tools><|im_end|>\n<|im_start|>user\nHi<|im_end|>\n")


def test_flush_gives_out_what_was_held(make_tokenizer: Factory) -> None:
    for name, flushed in {"chatml": "<|im_start|>system\nS<|im_end|>\n", "gemma": "<s><|turn|>user\nS\n\n"}.items():
        chat = renderer(make_tokenizer, name)
        turns = [Turn("system", "S"), Turn("flush"), Turn("user", "x")]
        assert text_of(chat, turns[:2]) == flushed
        assert text_of(chat, turns) == text_of(chat, [turns[0], turns[2]])


def test_a_system_message_later_is_a_turn_of_its_own(make_tokenizer: Factory) -> None:
    chat = renderer(make_tokenizer, "chatml")
    text = text_of(chat, [Turn("user", "x"), Turn("cue"), Turn("seal"), Turn("system", "S"), Turn("user", "y")])
    assert text.endswith("<|im_end|>\n<|im_start|>system\nS<|im_end|>\n<|im_start|>user\ny<|im_end|>\n")


def test_a_late_system_message_without_a_place_is_refused(make_tokenizer: Factory) -> None:
    chat = renderer(make_tokenizer, "gemma")
    with pytest.raises(TemplateError, match="system message"):
        chat.render(Turn("system", "S"), ChatState("seal"))


def test_a_reply_may_come_first(make_tokenizer: Factory) -> None:
    assert text_of(renderer(make_tokenizer, "chatml"), [Turn("cue")]) == "<|im_start|>assistant\n"
    assert text_of(renderer(make_tokenizer, "gemma"), [Turn("cue")]) == "<s><|turn|>model\n"


def test_adjacent_tool_results_share_a_turn_where_the_template_says_so(make_tokenizer: Factory) -> None:  # D7
    chat = renderer(make_tokenizer, "hermes")
    turns = [Turn("tool_result", "1", name="f"), Turn("tool_result", "2", name="g"), Turn("cue")]
    assert text_of(chat, turns, ChatState("seal", owed="\n")) == (
        "\n<|im_start|>user\n<tool_response>\n1\n</tool_response>\n<tool_response>\n2\n</tool_response><|im_end|>\n"
        "<|im_start|>assistant\n"
    )


def test_a_tool_result_equals_the_whole_rendering(make_tokenizer: Factory) -> None:  # D7
    chat = renderer(make_tokenizer, "hermes")
    call = {"function": {"name": "f", "arguments": {"x": 1}}}
    messages = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": "42"},
    ]
    turns = [Turn("user", "Hi"), Turn("assistant", '<tool_call>\n{"name": "f", "arguments": {"x": 1}}\n</tool_call>')]
    assert text_of(chat, [*turns, Turn("tool_result", "42", name="f"), Turn("cue")]) == chat.template.render(
        messages, cue=True
    )


def test_a_result_the_template_writes_as_json_is_quoted(make_tokenizer: Factory) -> None:
    chat = renderer(make_tokenizer, "llama")
    text = text_of(chat, [Turn("tool_result", 'a "b"\n', name="f")], ChatState("seal"))
    assert text == '<|header|>ipython<|/header|>\n\n"a \\"b\\"\\n"<|eot|>'


def test_results_follow_calls_that_end_with_the_end_token(make_tokenizer: Factory) -> None:
    chat = renderer(make_tokenizer, "mistral")
    text = text_of(chat, [Turn("tool_result", "4", name="f"), Turn("cue")], ChatState("seal"))
    assert text == '[RESULTS]{"content": 4}[/RESULTS]'


def test_a_template_without_tools_refuses_their_results(make_tokenizer: Factory) -> None:
    with pytest.raises(TemplateError):
        renderer(make_tokenizer, "gemma").render(Turn("tool_result", "4", name="f"), ChatState("seal"))
