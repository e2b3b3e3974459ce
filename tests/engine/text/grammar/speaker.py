"""A model with tools, as its template makes it."""

import functools
from collections.abc import Callable

from pie_mlx.calls import GrammarSource
from pie_mlx.engine.text.conversation.chat import ChatRenderer
from pie_mlx.engine.text.grammar import GrammarService, Matcher, NativeToolGrammars

from ..conftest import Factory
from .masks import allowed_tokens

Speak = Callable[..., "Speaker"]
"""Makes each model once."""


class Speaker:
    """A model with tools: what its template writes for calls, and whether its grammar takes a reply."""

    def __init__(self, make: Factory, template: str, special: tuple[str, ...], end: str = "<|im_end|>") -> None:
        self.chat = ChatRenderer(make(template, special, eos_token=end))
        self.tokenizer = self.chat.tokenizer
        size = self.tokenizer.size
        self.grammars = GrammarService(self.tokenizer, size, self.chat.stop_tokens, NativeToolGrammars(self.chat))

    def written(self, *calls: tuple[str, dict]) -> str:
        """The calls as the template writes them in a reply."""
        made = [
            {"type": "function", "id": f"call0000{place}", "function": {"name": name, "arguments": arguments}}
            for place, (name, arguments) in enumerate(calls)
        ]
        turns = [{"role": "user", "content": "x"}, {"role": "assistant", "content": "", "tool_calls": made}]
        head = self.chat.template.render(turns[:1], cue=True)
        text = self.chat.template.render(turns).removeprefix(head)
        ends = [text.index(end) for end in self.chat.turn_ends if end and end in text]
        return text[: min(ends)]

    def matcher(self, *schemas: str) -> Matcher:
        matcher = self.grammars.compile(GrammarSource("tools", schemas=list(schemas)))
        assert matcher is not None
        return matcher

    def takes(self, reply: str, *schemas: str) -> bool:
        matcher = self.matcher(*schemas)
        tokens = self.tokenizer.encode(reply)
        return matcher.try_accept(tokens) == len(tokens) and matcher.is_complete

    @functools.cache  # noqa: B019 - a speaker lives as long as its tests
    def encoded(self, *texts: str) -> list[list[int]]:
        """The tokens of each text."""
        return [self.tokenizer.encode(text) for text in texts]

    def allowed(self, matcher: Matcher) -> list[int]:
        return allowed_tokens(matcher, self.tokenizer.size)

    def text(self, tokens: list[int]) -> str:
        """The text of a reply, its control tokens and tags included, its end token not."""
        texts = self.tokenizer.bytes_by_id.tokens
        return b"".join(texts[token] for token in tokens if token not in self.chat.stop_tokens).decode()
