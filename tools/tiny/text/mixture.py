"""Which families are drawn how often, and samples by number."""

import dataclasses
from collections.abc import Callable

from tools.tiny.text import (
    arithmetic,
    chats,
    choices,
    code_blocks,
    copying,
    extraction,
    facts,
    identity,
    lists,
    memory,
    passages,
    react,
    retries,
    stories,
    styles,
    summaries,
    systems,
    tool_use,
)
from tools.tiny.text.sample import Sample
from tools.tiny.text.source import Source, Split

VERSION = 39

FAMILIES: dict[Callable[[Source], Sample], tuple[float, float]] = {
    # share of samples at the start and at the end of training
    copying.make_copying: (0.20, 0.05),
    copying.make_keyed: (0.14, 0.04),
    identity.make_identity: (0.08, 0.03),
    tool_use.make_calls: (0.18, 0.48),
    tool_use.make_two_calls: (0.02, 0.24),
    tool_use.make_no_tool: (0.03, 0.19),
    retries.make_retry: (0.00, 0.05),
    react.make_react: (0.00, 0.05),
    code_blocks.make_code: (0.00, 0.05),
    facts.make_facts: (0.08, 0.11),
    extraction.make_extraction: (0.06, 0.08),
    arithmetic.make_sums: (0.08, 0.06),
    arithmetic.make_comparison: (0.02, 0.03),
    passages.make_passage: (0.05, 0.24),
    memory.make_memory: (0.03, 0.12),
    lists.make_lists: (0.03, 0.05),
    summaries.make_summary: (0.02, 0.02),
    styles.make_style: (0.02, 0.09),
    choices.make_choice: (0.02, 0.08),
    chats.make_chat: (0.02, 0.03),
    stories.make_story: (0.02, 0.08),
}
# Who is asked who it is must not be told that it is a pirate.
WITH_OWN_MANNERS = (identity.make_identity, chats.make_chat)


def make_sample(seed: int, number: int, split: Split, progress: float = 1.0) -> Sample:
    """The sample of this number; the same for the same arguments on any machine.

    `progress` (0 to 1) moves the mixture from exercises in copying to the tasks themselves.
    """
    source = Source(f"{seed}/{split}/{number}", split)
    shares = [start + (end - start) * min(1.0, progress) for start, end in FAMILIES.values()]
    return _sample(source.random.choices(list(FAMILIES), shares)[0], source)


def make_of(family: Callable[[Source], Sample], seed: int, number: int, split: Split) -> Sample:
    """A sample of one family, for evaluation."""
    return _sample(family, Source(f"{seed}/{split}/{family.__name__}/{number}", split))


def _sample(family: Callable[[Source], Sample], source: Source) -> Sample:
    sample = family(source)
    if family not in WITH_OWN_MANNERS:
        sample = systems.opened(source, sample)
    return dataclasses.replace(sample, used=frozenset(source.used))
