"""The programs of the demo, which compute, pause and call tools."""

import random
from typing import NamedTuple


class Role(NamedTuple):
    """`prompt` and `answer` are tokens, `forks` contexts from one prefix, `pause` the ticks between `turns`."""

    program: str
    prompt: int
    answer: int
    forks: int
    turns: int
    pause: int
    bid: float
    fails: bool = False
    tools: bool = False


ROLES = (
    Role("deep-research@1.2.0", 380, 420, 5, 1, 0, 0.34),
    Role("chat@0.3.1", 90, 110, 1, 5, 30, 0.85),
    Role("code-review@2.0.0", 620, 260, 2, 2, 8, 0.52),
    Role("tool-agent@0.4.0", 210, 60, 1, 8, 9, 0.63, tools=True),
    Role("summarise@1.0.0", 900, 180, 1, 1, 0, 0.12),
    Role("debate@0.9.2", 260, 240, 3, 2, 5, 0.28),
    Role("plan-trip@0.1.0", 160, 140, 1, 3, 12, 0.45, fails=True, tools=True),
)

TOOLS = (("files", "read_file"), ("files", "list_directory"), ("calendar", "list_events"))
TOOL_DESCRIPTIONS = {
    "read_file": "The text of a file",
    "list_directory": "Names and sizes of what a directory holds",
    "list_events": "What the calendar says of a day",
}

PROMPTS = (
    "Which of these papers agree with each other?",
    "What did we decide on Tuesday, and who was against it?",
    "Plan three days in Lisbon without a car.",
    "Where does this function lose the lock?",
)

MISSES = (
    ("new", "nothing was computed after it before"),
    ("differs", "this prompt reads 'Tues', the cached one 'Wednes'"),
    ("evicted", "evicted at 07:23:11 for another program"),
)

USERS = ("ada", "linus", "grace", "alan", "barbara")

SPEECH = """
the pages of a context are shared until one of them writes so a fork costs nothing but what it adds and the market asks
each program what its memory is worth to it then keeps the ones that would pay most
"""
WORDS = SPEECH.split()


def sentence(draw: random.Random) -> str:
    """A few words, like a model's."""
    return " ".join(draw.choice(WORDS) for _ in range(draw.randint(4, 9))) + ("." if draw.random() < 0.3 else "") + " "
