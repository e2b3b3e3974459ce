"""Marks put in place of message contents, to find where a template puts them.

Short and alphanumeric, so that trimming and JSON quoting leave them alone.
"""

from collections.abc import Callable, Sequence

from pie_mlx.engine.text.tokens.tokenizer import Span
from pie_mlx.errors import TemplateError

USERS = ("zq7K0w", "zq7K1w", "zq7K2w")
ASSISTANTS = ("zq8J0w", "zq8J1w")
SYSTEM = "zq6H0w"
TOOL = "zq3E0w"
ARGUMENT = "zq5G0w"
THOUGHT = "zq2D0w"
RESULTS = ("zq4F0w", "zq4F1w")


def call_id(place: int) -> str:
    """The id of a call by its place in the turn. Nine letters and digits: some templates check the length."""
    return f"call{place:05d}"


def gaps(text: str, marks: Sequence[str]) -> list[str]:
    """The text before, between and after `marks`. Raises TemplateError unless each occurs once, in this order."""
    found: list[str] = []
    for mark in marks:
        before, present, text = text.partition(mark)
        if not present or mark in text:
            raise TemplateError("chat template: drops, repeats or reorders message contents", hint="see pie doctor")
        found.append(before)
    return [*found, text]


def common_prefix(first: str, second: str, spans: Callable[[str], list[Span]]) -> str:
    """The longest common prefix that ends between tokens: characters alone would cut a marker in two."""
    end = 0
    for one, other in zip(spans(first), spans(second), strict=False):
        if one != other:
            break
        end = one.end
    return first[:end]


def without_last(text: str, spans: Callable[[str], list[Span]]) -> str:
    """The text without its last token."""
    found = spans(text)
    return text[: found[-1].start] if found else text


def common_suffix(first: str, second: str, spans: Callable[[str], list[Span]]) -> str:
    """The longest common suffix that begins between tokens."""
    start = len(first)
    for one, other in zip(reversed(spans(first)), reversed(spans(second)), strict=False):
        if one.token != other.token:
            break
        start = one.start
    return first[start:]
