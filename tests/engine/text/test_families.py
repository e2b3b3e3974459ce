"""Tokenizers of every kind of model directory: what they load from, and what begins a sequence."""

import json
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

from pie_mlx.calls import ChatState, Turn
from pie_mlx.engine.model.loading.vocabulary import load_tokenizer
from pie_mlx.engine.text.conversation.chat import ChatRenderer
from pie_mlx.engine.text.tokens.tokenizer import LONG, Tokenizer
from pie_mlx.errors import ModelLoadError

from .families import FAMILIES, glm, llama3, tiktoken

BEGINS = {
    "llama": "<s>", "llama_without_post_processor": "<s>", "llama_sentencepiece": "<s>", "gemma_sentencepiece": "<s>",
    "gpt2": "", "qwen2": "", "llama3": "<s>", "glm": "[gMASK]<sop>", "t5": "", "t5_sentencepiece": "", "bert": "[CLS]",
    "tiktoken": "",
}  # fmt: skip
TEXTS = ["", "hello there", " the  lazy dog\n"]


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory):
    @cache
    def load(name: str) -> Tokenizer:
        folder = Path(mkdtemp(dir=tmp_path_factory.getbasetemp()))
        FAMILIES[name](folder)
        return Tokenizer(load_tokenizer(folder))

    return load


@pytest.mark.parametrize("name", FAMILIES)
def test_a_text_that_begins_a_sequence_has_before_it_what_transformers_puts_there(loaded, name: str):
    tokenizer = loaded(name)
    assert tokenizer.begin_text == BEGINS[name]
    for text in TEXTS:
        whole, inside = tokenizer.pretrained(text).input_ids, tokenizer.encode(text)
        after = whole[len(tokenizer.begin_tokens) + len(inside) :]
        assert tokenizer.encode(text, begins=True) == whole[: len(whole) - len(after)]
        assert inside == tokenizer.pretrained(text, add_special_tokens=False).input_ids
        assert set(after) <= {tokenizer.pretrained.eos_token_id, tokenizer.pretrained.sep_token_id}


@pytest.mark.parametrize("name", FAMILIES)
def test_ordinary_text_survives_its_tokens(loaded, name: str):
    tokenizer = loaded(name)
    assert tokenizer.decode(tokenizer.encode("the lazy dog")).strip() == "the lazy dog"


@pytest.mark.parametrize("name", ["llama", "llama3", "glm"])
def test_a_text_that_begins_with_the_special_tokens_gets_no_others(loaded, name: str):
    tokenizer = loaded(name)
    tokens = tokenizer.encode(tokenizer.begin_text + "hello", begins=True)
    assert tokens[: len(tokenizer.begin_tokens)] == tokenizer.begin_tokens
    assert tokens.count(tokenizer.begin_tokens[0]) == 1


def test_a_long_text_begins_as_a_short_one(loaded):
    tokenizer = loaded("llama3")
    long = "the lazy dog " * LONG
    assert tokenizer.encode(long, begins=True) == tokenizer.begin_tokens + tokenizer.encode(long)


@pytest.mark.parametrize("name", ["llama", "llama3", "glm"])
def test_a_conversation_without_a_template_begins_as_a_text_does_and_only_once(loaded, name: str):
    tokenizer = loaded(name)
    chat, tokens, state = ChatRenderer(tokenizer), list[int](), ChatState()
    for turn in (Turn("system", "Be brief."), Turn("user", "hello"), Turn("cue"), Turn("seal"), Turn("user", "why")):
        rendered = chat.render(turn, state)
        tokens, state = tokens + rendered.tokens, rendered.state
    begins = tokenizer.begin_tokens
    assert tokens[: len(begins)] == begins
    assert not set(begins) & set(tokens[len(begins) :])


def test_a_conversation_after_a_text_does_not_begin_again(loaded):
    chat = ChatRenderer(loaded("glm"))
    turn = chat.render(Turn("system", "Be brief."), ChatState("flush", inline=True))
    assert not set(chat.tokenizer.begin_tokens) & set(chat.render(Turn("flush"), turn.state).tokens)


def test_a_class_that_is_code_of_the_directory_is_replaced_by_its_tokenizer_json(tmp_path: Path):
    llama3(tmp_path)
    _name_own_code(tmp_path)
    assert Tokenizer(load_tokenizer(tmp_path)).begin_text == "<s>"


def test_a_tokenizer_that_only_code_of_the_directory_reads_is_refused(tmp_path: Path):
    tiktoken(tmp_path)
    _name_own_code(tmp_path)
    with pytest.raises(ModelLoadError, match="code that came with the model, which is not run"):
        load_tokenizer(tmp_path)


@pytest.mark.parametrize("kind", ["LlamaTokenizer", "GPT2Tokenizer", "Qwen2Tokenizer", "T5Tokenizer"])
def test_a_directory_that_only_names_a_tokenizer_is_refused(tmp_path: Path, kind: str):
    glm(tmp_path)
    (tmp_path / "tokenizer.json").unlink()
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": kind}))
    with pytest.raises(ModelLoadError, match="holds no tokenizer"):
        load_tokenizer(tmp_path)


def _name_own_code(folder: Path) -> None:
    path = folder / "tokenizer_config.json"
    own = {"tokenizer_class": "Own", "auto_map": {"AutoTokenizer": ["tokenization_own.Own", None]}}
    path.write_text(json.dumps(json.loads(path.read_text()) | own))
