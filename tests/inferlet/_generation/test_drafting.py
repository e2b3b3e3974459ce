"""Who guesses ahead for a Generator, and what it is told."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from inferlet import Context, Sampler
from pie_mlx import calls
from pie_mlx.errors import GrammarRejectedError, SpeculationError
from tests.inferlet.toy_host import ToyHost
from tests.inferlet.toy_language import END, encode

ARGMAX = Sampler.argmax()


@dataclass
class Parrot:
    """Drafts what it was given to say, from where it stands."""

    context: Context
    words: list[int]
    told: list[tuple[str, Any]] = field(default_factory=list)
    done: int = 0
    position: int = 0

    def draft(self) -> tuple[list[int], list[int]]:
        tokens = self.words[self.done :]
        return tokens, list(range(self.position, self.position + len(tokens)))

    def accept(self, tokens: list[int]) -> None:
        self.told.append(("accept", tokens))
        self.done += len(tokens)
        self.position += len(tokens)

    def rollback(self, n: int) -> None:
        self.told.append(("rollback", n))

    def reset(self) -> None:
        self.position = self.context.seq_len + len(self.context.buffer())


async def test_verified_drafts_are_emitted_at_once(host: ToyHost, ctx: Context) -> None:  # V2, V6
    parrot = Parrot(ctx.user("hi"), encode("hello"))
    generator = ctx.generate(ARGMAX, speculator=parrot)
    assert await generator.collect_tokens() == encode("hello")
    assert generator.finish_reason == "stop"
    assert (ctx.buffer(), ctx.seq_len) == ([], len(encode("<s><user>hi<end><bot>hello")))
    assert len(host.sent(calls.Forward)) == 1
    assert parrot.told == [("accept", [*encode("hello"), END])]


async def test_the_cue_is_in_the_buffer_when_a_speculator_is_reset(ctx: Context) -> None:  # V4, G2
    parrot = Parrot(ctx.user("hi"), [])
    ctx.generate(ARGMAX, speculator=parrot)
    assert parrot.position == len(encode("<s><user>hi<end><bot>"))


async def test_a_limit_inside_verified_drafts_leaves_the_last_token_in_the_buffer(ctx: Context) -> None:  # V5, V6
    prompt = len(ctx.user("hi").cue().buffer())
    parrot = Parrot(ctx, encode("hello"))
    generator = ctx.generate(ARGMAX, speculator=parrot, max_tokens=3, auto_flush=False)
    assert await generator.collect_tokens() == encode("hel")
    assert (ctx.buffer(), ctx.seq_len) == (encode("l"), prompt + 2)
    assert parrot.told == [("accept", encode("hel")), ("rollback", 3)]


async def test_the_last_token_is_not_worth_a_draft(host: ToyHost, ctx: Context) -> None:  # V5
    await ctx.user("hi").generate(ARGMAX, system_speculation=True, max_tokens=2).collect_tokens()
    first, second = host.sent(calls.Forward)
    assert first.speculation == calls.Speculation(1, stop_tokens=list(first.speculation.stop_tokens))
    assert second.speculation is None


async def test_the_engine_is_told_what_ends_the_run(host: ToyHost, ctx: Context) -> None:  # V6
    await ctx.user("hi").generate(ARGMAX, system_speculation=True, stop=[90, 91], max_tokens=2).collect_tokens()
    assert sorted(host.sent(calls.Forward)[0].speculation.stop_tokens) == [90, 91]


async def test_tokens_the_program_chose_advance_the_speculator(ctx: Context) -> None:  # G7
    parrot = Parrot(ctx.user("hi"), [])
    generator = ctx.generate(ARGMAX, speculator=parrot)
    await (await anext(generator)).clear_sampler().execute()
    assert generator.accept(encode("he")) == encode("he")
    assert parrot.told == [("accept", encode("he"))]


async def test_a_step_without_the_sampler_is_not_drafted_for(host: ToyHost, ctx: Context) -> None:  # G7
    generator = ctx.user("hi").generate(ARGMAX, speculator=Parrot(ctx, encode("hello")))
    await (await anext(generator)).clear_sampler().execute()
    assert host.sent(calls.Forward)[0].speculation is None


async def test_a_failed_pass_gives_its_input_back(host: ToyHost, ctx: Context) -> None:  # E3
    parrot = Parrot(ctx.user("hi"), encode("hello"))
    generator = ctx.generate(ARGMAX, speculator=parrot)
    before, host.failure = ctx.buffer(), GrammarRejectedError("refused")
    step = await anext(generator)
    with pytest.raises(GrammarRejectedError):
        await step.execute()
    assert (ctx.buffer(), parrot.told) == (before, [])
    assert (await step.execute()).tokens == encode("hello")


async def test_positions_must_follow_the_sequence(ctx: Context) -> None:  # V5
    parrot = Parrot(ctx.user("hi"), encode("hello"))
    generator = ctx.generate(ARGMAX, speculator=parrot)
    parrot.position += 1
    with pytest.raises(SpeculationError, match="position"):
        await generator.collect_tokens()
