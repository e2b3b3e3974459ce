"""Long conversations made of short ones, so that far-back turns do not disturb the next answer."""

from collections.abc import Callable

from tools.tiny.text import choices, copying, extraction, facts, identity, lists, memory, passages, summaries
from tools.tiny.text.arithmetic import make_comparison, make_sums
from tools.tiny.text.sample import Message, Sample, system
from tools.tiny.text.source import Source

PARTS: tuple[Callable[[Source], Sample], ...] = (
    choices.make_choice,
    copying.make_copying,
    copying.make_keyed,
    extraction.make_extraction,
    facts.make_facts,
    identity.make_identity,
    lists.make_lists,
    memory.make_memory,
    passages.make_passage,
    summaries.make_summary,
    make_comparison,
    make_sums,
)


def make_chat(source: Source) -> Sample:
    """Two to five plain conversations one after the other, without thinking and with one system prompt."""
    turns: list[Message] = [system(source.one(identity.SYSTEMS))] if source.chance(0.5) else []
    part = source.any(PARTS)(source)
    for _ in range(source.integer(2, 5)):
        part = source.any(PARTS)(source)
        while part.thinking is not None or part.messages[0]["role"] == "system":
            part = source.any(PARTS)(source)
        turns += part.messages
    return Sample("long chats", tuple(turns), part.check)
