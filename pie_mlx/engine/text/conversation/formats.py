"""What decoders must know of how a model speaks, read off its template and vocabulary."""

from collections.abc import Sequence

from pie_mlx.calls import Formats, ReasoningFormat
from pie_mlx.engine.text.conversation.fragments import Fragments
from pie_mlx.engine.text.templates.template import ChatTemplate
from pie_mlx.engine.text.tokens.tokenizer import Tokenizer
from pie_mlx.engine.text.tools.tool_families import recognise_family

_REASONING = (
    ("<think>", "</think>"),
    ("[THINK]", "[/THINK]"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|channel>thought\n", "<channel|>"),
    ("<longcat_think>", "</longcat_think>"),
    ("<|think:start|>", "<|think:end|>"),
)
_CHANNEL_TOKENS = ("<|start|>", "<|channel|>", "<|message|>", "<|end|>")


def detect_formats(
    template: ChatTemplate, tokenizer: Tokenizer, fragments: Fragments | None, stop_tokens: Sequence[int]
) -> Formats:
    """The formats of a model."""
    family = recognise_family(template.source)
    channels = all(tokenizer.id_of(text) in tokenizer.control_ids for text in _CHANNEL_TOKENS)
    cue = fragments.cue if fragments else ""
    reasoning = None if channels else _detect_reasoning(template, tokenizer, cue)
    return Formats(
        stop_tokens=list(stop_tokens),
        control_tokens=sorted(tokenizer.control_ids),
        reasoning=reasoning,
        tools=family.format if family else None,
        channels=channels,
        answer_opening=_header(fragments) if channels else _opened_closing(reasoning),
        strips_first_space=tokenizer.bytes_by_id.strips_first_space,
    )


def opens_reasoning(cue: str) -> bool:
    """Whether a cue ends inside a reasoning block."""
    return any(_is_opened_by(cue, opening) for opening, _ in _REASONING)


def _is_opened_by(cue: str, opening: str) -> bool:
    return cue.rstrip().endswith(opening.rstrip())


def _header(fragments: Fragments | None) -> str:
    """What past replies have after the cue."""
    if fragments is None or not fragments.assistant_prefix.startswith(fragments.cue):
        return ""
    return fragments.assistant_prefix.removeprefix(fragments.cue)


def _opened_closing(reasoning: ReasoningFormat | None) -> str:
    return reasoning.closing if reasoning and reasoning.opened_by_cue else ""


def _detect_reasoning(template: ChatTemplate, tokenizer: Tokenizer, cue: str) -> ReasoningFormat | None:
    added = set(tokenizer.added_texts.values())
    for opening, closing in _REASONING:
        marker = opening.removesuffix("thought\n")
        if {marker, closing} <= added or (marker in template.source and closing in template.source):
            return ReasoningFormat(opening, closing, opened_by_cue=_is_opened_by(cue, opening))
    return None
