"""What coding agents lose to each other in one pool: `python -m benchmarks.agents`.

Some twenty sessions read 142,000 tokens in 43 turns and answer 444 tokens in each. Tools run between the turns for 1 to
30 seconds, and some turns leave work to a sub-agent, a fork that goes on with what was read so far. Nothing but the
pool keeps what was computed: what it lost is computed again. Policies: the least recently used pages go first, as in a
prefix cache; the market; and the market where programs say how long their tools will run (`idle(seconds)`), which they
know to a factor of two. The same simulator as `benchmarks.market`, in units of many tokens.
"""

import argparse
import random
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.market_rivals import rivals
from pie_mlx.engine.policies import Limits, policy
from pie_mlx.engine.policies.simulation import (
    Action,
    AutoBidder,
    Await,
    Branch,
    Device,
    Mark,
    Outcome,
    Pause,
    Program,
    Setup,
    Simulator,
    Turn,
)

SMOKE = ("--sessions", "6", "--turns", "6", "--pool-tokens", "160000")
UNIT = 64
"""Tokens that are simulated as one."""
PAGE_TOKENS = 1024
TURNS, SESSION_TOKENS, REPLY_TOKENS, PREAMBLE_TOKENS = 43, 142_000, 444, 20_000
SHORTEST_TOOL, LONGEST_TOOL = 1.0, 30.0
SUBAGENT_EVERY = 8
KIB_PER_TOKEN = 96
"""Of a model with 30B-A3B's 48 layers of 4 heads of 128."""
DEVICE = Device(0.016 * UNIT, 0.0015 * UNIT, float("inf"), float("inf"))
"""As `apple, no disk` of `benchmarks.market`, in units."""
CONTENDERS = {"LRU": False, "market": False, "market with hints": True}
"""Whether programs give hints."""


@dataclass(frozen=True)
class Row:
    policy: str
    hit_rate: float
    recomputed_tokens: int
    written_gib: float
    hours: float


def session(source: random.Random, arrival_seconds: float, turns: int, *, hints: bool) -> Program:
    """One agent, and the sub-agents that it waits for."""
    read = (SESSION_TOKENS - PREAMBLE_TOKENS - TURNS * REPLY_TOKENS) // (TURNS - 1)
    actions: list[Action] = []
    scripts: list[tuple[Action, ...]] = []
    for turn in range(turns):
        actions += [_turn(read if turn else PREAMBLE_TOKENS), _tool(source, hints=hints)]
        if turn % SUBAGENT_EVERY == SUBAGENT_EVERY - 1:
            label = len(scripts) + 1
            scripts.append((_turn(read), _tool(source, hints=hints), _turn(read), Mark(label)))
            actions += [Branch(label - 1), Await((label,), idle=True)]
    endowment = SESSION_TOKENS / PAGE_TOKENS
    return Program("agent", arrival_seconds, endowment, tuple(actions), scripts=tuple(scripts))


def _turn(read_tokens: int) -> Turn:
    return Turn(read_tokens // UNIT, REPLY_TOKENS // UNIT, 2 * REPLY_TOKENS // UNIT)


def _tool(source: random.Random, *, hints: bool) -> Pause:
    seconds = source.uniform(SHORTEST_TOOL, LONGEST_TOOL)
    error = source.uniform(0.5, 2.0)
    return Pause(seconds, idle=True, expected_seconds=seconds * error if hints else None)


def simulate(contender: str, sessions: int, turns: int, pool_tokens: int, seed: int) -> Outcome:
    """One run to the end of all sessions, which begin within some minutes."""
    source = random.Random(seed)
    arrivals = [source.uniform(0, 60.0 * sessions) for _ in range(sessions)]
    programs = [session(source, at, turns, hints=CONTENDERS[contender]) for at in arrivals]
    setup = Setup(pool_tokens // PAGE_TOKENS, PAGE_TOKENS // UNIT, device=DEVICE)
    rival = rivals().get(contender)
    simulator = Simulator(programs, setup, rival or policy("market"), AutoBidder(setup.page_size), Limits())
    if rival is not None:
        rival.simulator = simulator
    return simulator.run()


def measure(contender: str, outcomes: Sequence[Outcome]) -> Row:
    """Of all runs together. A disk below the pool would have written what was lost and needed again."""
    held = sum(outcome.held_tokens for outcome in outcomes)
    replayed = sum(outcome.replayed_tokens for outcome in outcomes)
    written = sum(outcome.wasted_pages for outcome in outcomes) * PAGE_TOKENS * KIB_PER_TOKEN / (1 << 20)
    hours = sum(outcome.seconds for outcome in outcomes) / 3600
    return Row(contender, 1 - replayed / held, replayed * UNIT, written, hours)


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__ and __doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--pool-tokens", type=int, default=1_500_000, help="what the pool holds")
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args(words)
    print(f"{options.sessions} sessions of {options.turns} turns, a pool of {options.pool_tokens:,} tokens")
    print(f"{'policy':>18} {'hit rate':>9} {'recomputed':>12} {'GiB written':>12} {'hours':>7}")
    for contender in CONTENDERS:
        outcomes = [
            simulate(contender, options.sessions, options.turns, options.pool_tokens, seed)
            for seed in range(options.seeds)
        ]
        row = measure(contender, outcomes)
        print(
            f"{row.policy:>18} {row.hit_rate:9.2%} {row.recomputed_tokens:12,} {row.written_gib:12.1f} {row.hours:7.2f}"
        )


if __name__ == "__main__":
    main()
