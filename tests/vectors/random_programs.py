"""Programs at random: contexts, passes, texts, bids and failures in any order."""

import random
from typing import Any

from tests.inferlet.toy_language import FIRST
from tests.vectors.acting import Act

LENGTH = 18


def random_acts(source: random.Random) -> list[Act]:
    """Acts on the context `ctx` and its forks."""
    contexts, acts = ["ctx"], list[Act]()
    for _ in range(LENGTH):
        acts += _some(source, source.choice(contexts), contexts)
    for name in contexts:
        acts += [{"on": name, "call": "seqLen"}, {"on": name, "call": "buffer"}]
    return acts


def _some(source: random.Random, ctx: str, contexts: list[str]) -> list[Act]:
    tokens = [FIRST + source.randrange(50) for _ in range(source.randrange(1, 8))]
    match source.randrange(14):
        case 0:
            return [{"on": ctx, "call": source.choice(("system", "user", "assistant")), "args": [_word(source)]}]
        case 1:
            return [{"on": ctx, "call": "append", "args": [tokens]}]
        case 2:
            return [{"on": ctx, "call": "flush"}]
        case 3 | 4:
            return _forward(source, ctx, tokens)
        case 5 | 6 | 7:
            return _text(source, ctx)
        case 8:
            return [{"on": ctx, "call": "truncate", "args": [source.randrange(3)]}]
        case 9 if len(contexts) < 3:
            contexts.append(f"fork{len(contexts)}")
            return [{"as": contexts[-1], "on": ctx, "call": "fork"}]
        case 10:
            return [{"on": ctx, "call": "setBid", "args": [source.choice((0.5, -1.0, 2.0))]}]
        case 11:
            scope = {"as": "scope", "on": ctx, "call": "idle"}
            return [scope, *_text(source, ctx), {"on": "scope", "call": "leave"}]
        case 12:
            return [{"on": ctx, "call": "save", "args": ["kept"]}, *_reopened(source, ctx)]
        case _:
            return [{"on": ctx, "call": "fail"}, {"on": ctx, "call": "flush"}, {"on": ctx, "call": "seqLen"}]


def _reopened(source: random.Random, ctx: str) -> list[Act]:
    return [{"as": ctx, "on": "Context", "call": source.choice(("open", "take")), "args": [{"ref": "model"}, "kept"]}]


def _forward(source: random.Random, ctx: str, tokens: list[int]) -> list[Act]:
    acts: list[Act] = [{"as": "pass", "on": ctx, "call": "forward"}]
    if source.random() < 0.3:
        acts.append({"on": "pass", "call": "deferCommit"})
    acts.append({"on": "pass", "call": "input", "args": [tokens]})
    if source.random() < 0.3:
        places = [source.randrange(100) for _ in tokens]
        acts.append({"on": "pass", "call": "inputAt", "args": [tokens, places]})
    reading: Any = {"sampler": ["argmax"]} if source.random() < 0.7 else {"sampler": ["topP", 0.5, 0.9]}
    acts += [{"as": "drawn", "on": "pass", "call": "sample", "args": [[0, -1 + len(tokens)], reading]}]
    if source.random() < 0.8:
        acts += [{"as": "out", "on": "pass", "call": "execute"}]
        acts += [{"on": "out", "call": "tokensAt", "args": [{"ref": "drawn"}]}]
    return acts


def _text(source: random.Random, ctx: str) -> list[Act]:
    options: dict[str, Any] = {}
    if source.random() < 0.7:
        options["maxTokens"] = source.randrange(7)
    if source.random() < 0.3:
        options["autoFlush"] = False
    if source.random() < 0.3:
        options["rebidEachStep"] = False
    if source.random() < 0.3:
        options["horizon"] = source.randrange(40)
    if source.random() < 0.2:
        options["systemSpeculation"] = True
    if source.random() < 0.2:
        options["constrain"] = {"schema": ["regex", "yes|no|hello"]}
    if source.random() < 0.2:
        options["logitMask"] = [FIRST, 95]
    if source.random() < 0.2:
        options["stop"] = [FIRST + source.randrange(60)]
    made: Act = {"as": "text", "on": ctx, "call": "generate", "args": [{"sampler": ["argmax"]}], "options": options}
    ends: list[Act] = [{"on": "text", "call": name} for name in ("tokensGenerated", "isDone", "finishReason", "score")]
    if source.random() < 0.5 and "maxTokens" in options:
        return [made, {"on": "text", "call": source.choice(("collectTokens", "collectText"))}, *ends]
    steps: list[Act] = []
    for _ in range(source.randrange(1, 6)):
        steps += [{"as": "step", "on": "text", "call": "next"}]
        if source.random() < 0.2:
            steps += [{"on": "step", "call": "upTo", "args": [source.randrange(1, 5)]}]
        steps += [{"as": "out", "on": "step", "call": "execute"}, {"on": "out", "call": "tokens"}]
        if source.random() < 0.15:
            steps += [{"on": "text", "call": "accept", "args": [[FIRST + 5, FIRST + 9]]}]
    return [made, *steps, *ends]


def _word(source: random.Random) -> str:
    return "".join(source.choice("abc ") for _ in range(source.randrange(1, 9)))
