"""The everyday tools, with the wordings of `asks.json` beside those that stand with each tool.

Those were written without sight of the others, as different people speak: somebody who types little, somebody who tells
why, somebody who asks politely. None of them is held out.
"""

import json
from dataclasses import replace
from pathlib import Path

from tools.tiny.text.actions import ACTIONS
from tools.tiny.text.catalogue import Concept
from tools.tiny.text.lookups import LOOKUPS


def read_asks(file: str) -> dict[str, list[str]]:
    """The wordings of a file beside this one, by the plainest name of a tool."""
    return json.loads((Path(__file__).parent / file).read_text())


MORE_ASKS = read_asks("asks.json")


def _asked_otherwise(concept: Concept) -> Concept:
    return replace(concept, asks=(*concept.asks, *MORE_ASKS[concept.names[0]]))


EVERYDAY: tuple[Concept, ...] = tuple(_asked_otherwise(concept) for concept in (*LOOKUPS, *ACTIONS))
