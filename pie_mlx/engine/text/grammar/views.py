"""A tokenizer as grammars may see it: with its markup tokens, for tool calls, or without.

In a user's grammar a special token must never stand for its text: a forced literal like "<think>" is to be spelled in
ordinary tokens, and a mask must not allow `<|im_end|>` inside a JSON string.
"""

import json
from typing import Any, Literal, cast

from pie_mlx.engine.text.tokens.tokenizer import Tokenizer

View = Literal["user", "tool"]


def hidden_tokens(tokenizer: Tokenizer, view: View) -> frozenset[int]:
    """The tokens that a view never allows as text."""
    return tokenizer.markup_ids if view == "user" else frozenset()


def tokenizer_json(tokenizer: Tokenizer, view: View) -> str:
    """The tokenizer's JSON text; hidden tokens have names that no text spells, and the same ids."""
    document = cast("dict[str, Any]", json.loads(tokenizer.backend.to_str()))
    document["post_processor"] = document["truncation"] = document["padding"] = None
    names = {tokenizer.added_texts[token]: f"\ue000{token}\ue001" for token in hidden_tokens(tokenizer, view)}
    for added in document["added_tokens"]:
        if added["content"] in names:
            added.update(content=names[added["content"]], special=True, normalized=False)
        elif added["id"] in tokenizer.markup_ids:
            added["special"] = True
    _rename(document["model"], names)
    return json.dumps(document, ensure_ascii=False)


def _rename(model: dict[str, Any], names: dict[str, str]) -> None:
    vocabulary = model.get("vocab")
    if isinstance(vocabulary, dict):
        entries = cast("dict[str, int]", vocabulary)
        model["vocab"] = {names.get(text, text): token for text, token in entries.items()}
    elif isinstance(vocabulary, list):
        pairs = cast("list[tuple[str, float]]", vocabulary)
        model["vocab"] = [[names.get(text, text), score] for text, score in pairs]
    unknown = model.get("unk_token")
    if unknown in names:
        model["unk_token"] = names[unknown]
