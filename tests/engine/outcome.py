"""What a generation leaves behind, to compare two ways of doing the same."""

from dataclasses import dataclass

from inferlet import Context, Generator


@dataclass(frozen=True)
class Outcome:
    """`counters`: committed pages, working pages and working tokens."""

    tokens: list[int]
    buffer: list[int]
    length: int
    counters: tuple[int, int, int]
    reason: str | None


async def collected(context: Context, generator: Generator) -> Outcome:
    return outcome(context, generator, await generator.collect_tokens())


def outcome(context: Context, generator: Generator, tokens: list[int]) -> Outcome:
    raw = context.inner()
    counters = raw.committed_page_count(), raw.working_page_count(), raw.working_page_token_count()
    return Outcome(tokens, context.buffer(), context.seq_len, counters, generator.finish_reason)
