"""How many tokens a model may think before it answers."""

from inferlet.grammar import Grammar
from pie_mlx.calls import Formats, GrammarSource, ThoughtLimit

_ANALYSIS = ("<|channel|>analysis<|message|>", "<|end|>")
_NEXT_MESSAGE = "<|end|><|start|>assistant"


def thought_limit(formats: Formats, tokens: int, *, cued: bool) -> Grammar | None:
    """Any text whose thoughts take at most `tokens`; None for a model without thoughts. `cued`: the cue was just
    written, so that a thought is open where the cue opens one."""
    reasoning = formats.reasoning
    if formats.channels:
        limit = ThoughtLimit(tokens, *_ANALYSIS, _NEXT_MESSAGE + formats.answer_opening)
    elif reasoning is not None:
        limit = ThoughtLimit(tokens, reasoning.opening, reasoning.closing, is_open=cued and reasoning.opened_by_cue)
    else:
        return None
    return Grammar(GrammarSource("thought", limit=limit))
