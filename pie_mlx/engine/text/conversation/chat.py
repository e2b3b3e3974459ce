"""Conversations in a model's own words: turns in, tokens out."""

from collections.abc import Generator, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any

import msgspec

from pie_mlx.calls import ChatState, Formats, ParsedToolCall, RenderedTurn, Turn
from pie_mlx.engine.text.conversation.call_styles import adapt_calls
from pie_mlx.engine.text.conversation.control_texts import ControlTexts
from pie_mlx.engine.text.conversation.formats import detect_formats
from pie_mlx.engine.text.conversation.fragment_writer import FragmentWriter
from pie_mlx.engine.text.conversation.fragments import Fragments, derive_fragments, message
from pie_mlx.engine.text.conversation.sentinels import TOOL, USERS
from pie_mlx.engine.text.conversation.stateful_writer import StatefulWriter
from pie_mlx.engine.text.conversation.tool_calls import parse_calls
from pie_mlx.engine.text.conversation.tool_fragments import offered
from pie_mlx.engine.text.conversation.verification import adapt, check_writer, conversations, first_seal
from pie_mlx.engine.text.conversation.writing import Piece, TurnWriter, tool_schemas
from pie_mlx.engine.text.steps import all_steps
from pie_mlx.engine.text.templates.template import CHATML, EPOCH, ChatTemplate
from pie_mlx.engine.text.tokens.encoding import Steps
from pie_mlx.engine.text.tokens.tokenizer import Tokenizer
from pie_mlx.errors import TemplateError


def load_template(
    tokenizer: Tokenizer, variables: Mapping[str, Any] | None = None, date: datetime = EPOCH
) -> ChatTemplate:
    """The tokenizer's own chat template, with `variables`; ChatML for one that has none (D1). Raises TemplateError."""
    pretrained = tokenizer.pretrained
    if not tokenizer.has_chat_template:
        return ChatTemplate.from_text(CHATML, {**pretrained.special_tokens_map, "begin_text": tokenizer.begin_text})
    template = ChatTemplate(
        lambda tools: pretrained.get_chat_template(tools=None if tools is None else list(tools)),
        pretrained.special_tokens_map,
        variables or {},
        date=date,
    )
    adapt(template)
    adapt_calls(template)
    return template


class ChatRenderer:
    """Writes conversations for one model. `generation_eos_ids` are the end tokens of its generation config, `variables`
    further variables of its template, and `date` the date that the template writes, if it writes one.

    `mode` is "fragments", "stateful", or "none" when the template allows neither: then `render` raises TemplateError.
    Immutable after construction.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        generation_eos_ids: Iterable[int] = (),
        variables: Mapping[str, Any] | None = None,
        date: datetime = EPOCH,
    ) -> None:
        self.tokenizer = tokenizer
        self.template = load_template(tokenizer, variables, date)
        self._markers = [tokenizer.added_texts[token] for token in sorted(tokenizer.control_ids)]
        self._markers += [text for token in tokenizer.eos_ids if (text := tokenizer.added_texts.get(token))]
        self._control_texts = ControlTexts([tokenizer.added_texts[token] for token in tokenizer.control_ids])
        self.fragments: Fragments | None = None
        self.failure: TemplateError | None = None
        self.stop_tokens = sorted({*generation_eos_ids, *tokenizer.eos_ids})
        self._writer, self.mode = self._choose_writer()
        self._anchored = self._needs_anchors()
        self._formats = detect_formats(self.template, tokenizer, self.fragments, self.stop_tokens)
        self.template.on_trial = False

    def render(self, turn: Turn, state: ChatState) -> RenderedTurn:
        """The tokens of the next turn and the conversation after it.

        Raises TemplateError for a turn the template has no place for, InvalidArgumentError for bad tool schemas.
        """
        return all_steps(self.rendering(turn, state))

    def rendering(self, turn: Turn, state: ChatState) -> Generator[int, None, RenderedTurn]:
        """`render` in steps."""
        if self._writer is None:
            raise self.failure or TemplateError("chat template: cannot be split by turns", hint="see pie doctor")
        self._check_schemas(turn)
        return (yield from self._write(turn, state, self._writer))

    def formats(self) -> Formats:
        """What decoders need to know."""
        return self._formats

    def parse_calls(self, text: str, schemas: Sequence[str] = ()) -> list[ParsedToolCall]:
        """The tool calls in a piece of a reply, delimiters included; empty when it does not parse (D4).

        With `schemas`, the JSON texts of the offered tools, a call of another tool is no call.
        """
        return parse_calls(self._formats.tools, text, schemas)

    @property
    def turn_ends(self) -> list[str]:
        """The texts that may end a reply."""
        ends = [self.tokenizer.added_texts.get(token, "") for token in self.stop_tokens]
        return [*ends, self.fragments.seal if self.fragments else ""]

    def _choose_writer(self) -> tuple[TurnWriter | None, str]:
        try:
            self.fragments = derive_fragments(self.template, self.tokenizer.spans, self._markers)
            self._add_stop(self.fragments.stop)
            writer = FragmentWriter(self.template, self.fragments, self.tokenizer, self.turn_ends)
            return self._verified(writer), "fragments"
        except TemplateError as error:
            self.failure = error
        try:
            seal = self.fragments.seal if self.fragments else first_seal(self.template, self._markers)
            self._add_stop(seal)
            return self._verified(StatefulWriter(self.template, seal)), "stateful"
        except TemplateError as error:
            self.failure = error
        return None, "none"

    def _verified(self, writer: TurnWriter) -> TurnWriter:
        check_writer(writer, self.template)
        return writer

    def _add_stop(self, text: str) -> None:
        token = self.tokenizer.id_of(text) if text else None
        if token is not None:
            self.stop_tokens = sorted({*self.stop_tokens, token})

    @cached_property
    def _writes_tools(self) -> bool:
        """Whether tools leave a trace in what the template writes. One that refuses them says so itself."""
        try:
            return TOOL in self.template.render([message("user", USERS[0])], tools=[offered(TOOL)])
        except TemplateError:
            return True

    def _check_schemas(self, turn: Turn) -> None:
        if turn.schemas and not self._writes_tools:
            raise TemplateError(
                "chat template: tells the model of no tools",
                hint="describe them in the system message, or the first one",
            )
        tool_schemas(turn.schemas)  # as they are, with their own names

    def _write(self, turn: Turn, state: ChatState, writer: TurnWriter) -> Generator[int, None, RenderedTurn]:
        written, after = writer.write(self._control_texts.hidden(turn), state)
        pieces = self._control_texts.shown([piece for piece in written if piece.text])
        if not pieces:
            return RenderedTurn([], msgspec.structs.replace(after, inline=state.inline))
        inline = not any(pieces[-1].text.endswith(marker) for marker in self._markers)
        tokens = yield from self._tokenise(pieces, self._anchor_after(state))
        return RenderedTurn(tokens, msgspec.structs.replace(after, inline=inline))

    def _tokenise(self, pieces: Sequence[Piece], anchor: str) -> Steps:
        """One encoding per turn; contents that spell control tokens are encoded apart, as plain text."""
        if not any(piece.is_content and self.tokenizer.has_control_text(piece.text) for piece in pieces):
            return (yield from self._encode("".join(piece.text for piece in pieces), anchor))
        tokens: list[int] = []
        for piece in pieces:
            tokens += yield from self.tokenizer.encoding(piece.text, plain=piece.is_content)
        return tokens

    def _encode(self, text: str, anchor: str) -> Steps:
        before = self.tokenizer.encode(anchor) if anchor else []
        tokens = yield from self.tokenizer.encoding(anchor + text)
        return tokens[len(before) :] if tokens[: len(before)] == before else (yield from self.tokenizer.encoding(text))

    def _anchor_after(self, state: ChatState) -> str:
        """Text to encode before a turn and drop again, so that the turn is tokenised as inside a longer text.

        SentencePiece tokenizers put a space before the first word of a text and after control tokens.
        """
        if not self._anchored or state.last is None or not self._markers:
            return ""
        return "\n" if state.inline else self._markers[0]

    def _needs_anchors(self) -> bool:
        """Whether only anchors make turns tokenise as the whole conversation does."""
        return not self._is_exact(anchored=False) and self._is_exact(anchored=True)

    def _is_exact(self, *, anchored: bool) -> bool:
        self._anchored = anchored
        if self._writer is None:
            return False
        case = conversations(self.template)[-1]
        tokens: list[int] = []
        state = ChatState()
        for turn in case.turns:
            rendered = all_steps(self._write(turn, state, self._writer))
            tokens, state = tokens + rendered.tokens, rendered.state
        return tokens == self.tokenizer.encode(case.text)
