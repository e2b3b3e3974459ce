"""Programs over a toy engine: results of every act, and every call in order."""

import random
from typing import Any

from tests.vectors.acting import Act, acted
from tests.vectors.random_programs import random_acts
from tests.vectors.speaking_ahead import ChannelHost, SteppingHost, ThinkingHost
from tests.vectors.written_programs import CHANNELS, THINKING, WRITTEN

MODEL: Act = {"as": "model", "on": "Model", "call": "load", "args": ["toy"]}
CONTEXT: Act = {"as": "ctx", "on": "Context", "call": "new", "args": [{"ref": "model"}]}
RELEASES = {"release_matcher", "release_context"}
"""Sent when objects are garbage: each language has its own time for that."""


async def program_cases() -> list[dict[str, Any]]:
    """Those written by hand, and some at random."""
    at_random = {f"at random {seed}": random_acts(random.Random(seed)) for seed in range(16)}
    return [
        await _case(name, host(page_size=4, maximum_positions=200, reply=reply), [MODEL, CONTEXT, *acts])
        for host, reply, programs in (
            (SteppingHost, "hello", {**WRITTEN, **at_random}),
            (ThinkingHost, "hm</t>yes", THINKING),
            (ChannelHost, "<sys>analysis<tool>hm<end><bot>x<sys>final<tool>yes<eos>", CHANNELS),
        )
        for name, acts in programs.items()
    ]


async def _case(name: str, host: SteppingHost, acts: list[Act]) -> dict[str, Any]:
    results, crossed = await acted(host, acts)
    kept = [entry for entry in crossed if not (entry.get("posted") and entry["call"]["call"] in RELEASES)]
    return {"name": name, "acts": acts, "results": results, "crossed": kept}
