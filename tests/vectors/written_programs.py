"""Programs that go where chance seldom does."""

from typing import Any

from tests.inferlet.toy_language import FIRST, encode
from tests.vectors.acting import Act

GREEDY: Any = {"sampler": ["argmax"]}
YES = {"schema": ["regex", "yes|no"]}


def _generate(**options: Any) -> Act:
    return {"as": "text", "on": "ctx", "call": "generate", "args": [GREEDY], "options": options}


def _on(target: str, call: str, *arguments: Any, **more: Any) -> Act:
    return {"on": target, "call": call, "args": list(arguments), **more}


SAID = [_on("ctx", "user", "hi")]
STEP = [_on("text", "next", **{"as": "step"}), _on("step", "execute", **{"as": "out"}), _on("out", "tokens")]
TOLD = _on("script", "told")

WRITTEN: dict[str, list[Act]] = {
    "a conversation": [
        *(_on("ctx", "system", "be"), _on("ctx", "user", "hi"), _on("ctx", "buffer")),
        *(_generate(), _on("text", "collectText"), _on("text", "finishReason"), _on("ctx", "seqLen")),
        *(_on("ctx", "seal"), _on("ctx", "user", "more"), _on("ctx", "cue"), _on("ctx", "buffer")),
    ],
    "turns by hand": [
        *(_on("chat", name, {"ref": "model"}, "x", **{"as": name}) for name in ("system", "user", "assistant")),
        *(_on("chat", name, {"ref": "model"}) for name in ("cue", "seal", "stopTokens")),
        *(_on("ctx", "append", {"ref": name}) for name in ("system", "user", "assistant")),
        _on("ctx", "buffer"),
        *(_on("ctx", "assistant", "calls", [["f", "{}"]]), _on("ctx", "answerTool", "f", {"a": [1, "b"]})),
        *(_on("ctx", "equipTools", [{"name": "f", "parameters": {}}]), _on("ctx", "buffer")),
    ],
    "raw text": [
        _on("ctx", "appendText", "abc"),
        _on("ctx", "append", encode("d")),
        _on("ctx", "flush"),
        _on("ctx", "seqLen"),
    ],
    "held turns go out with a flush": [
        _on("ctx", "system", "s"),
        _on("ctx", "buffer"),
        _on("ctx", "flush"),
        _on("ctx", "seqLen"),
    ],
    "a step that fails is repeated": [
        *(*SAID, _generate(maxTokens=3), _on("text", "next", **{"as": "step"}), _on("ctx", "fail")),
        *(
            _on("step", "execute"),
            _on("step", "execute", **{"as": "out"}),
            _on("out", "tokens"),
            _on("step", "execute"),
        ),
    ],
    "a step that is not executed": [*SAID, _generate(maxTokens=3), _on("text", "next"), _on("text", "next")],
    "steps that the engine took before": [
        *SAID,
        _generate(maxTokens=5),
        *STEP * 6,
        _on("ctx", "seqLen"),
        _on("ctx", "flush"),
    ],
    "something else happens between prefetched steps": [
        *(*SAID, _generate(maxTokens=9), *STEP * 2, _on("ctx", "truncate", 0), *STEP * 2),
        *(_on("ctx", "setBid", 3.0), *STEP * 2, _on("ctx", "fork", **{"as": "fork"}), *STEP, _on("fork", "seqLen")),
    ],
    "steps with probes of their own": [
        *(*SAID, _generate(maxTokens=4), _on("text", "probeEachStep", 0, {"probe": ["Entropy"]}, **{"as": "entropy"})),
        _on("text", "next", **{"as": "step"}),
        _on("step", "probe", -1, {"probe": ["Distribution", 1.0, 3]}, **{"as": "likely"}),
        _on("step", "probe", 0, {"probe": ["Logprobs", [9, 8]]}, **{"as": "logprobs"}),
        *(_on("step", "execute", **{"as": "out"}), _on("out", "entropy", {"ref": "entropy"})),
        *(_on("out", "distribution", {"ref": "likely"}), _on("out", "logprobs", {"ref": "logprobs"})),
        *(
            _on("out", "entropy", {"ref": "likely"}),
            _on("text", "next", **{"as": "step"}),
            _on("step", "probe", 5, {"probe": ["Entropy"]}),
        ),
        *(_on("step", "execute"), _on("step", "clearSampler"), _on("text", "tokensGenerated")),
    ],
    "tokens that the program chooses": [
        *(*SAID, _generate(maxTokens=4), _on("text", "next", **{"as": "step"}), _on("step", "clearSampler")),
        *(_on("step", "probe", -1, {"probe": ["Logprob", 9]}, **{"as": "p"}), _on("step", "execute", **{"as": "out"})),
        *(_on("out", "logprobs", {"ref": "p"}), _on("out", "autoSampler"), _on("text", "accept", encode("ab<end>c"))),
        *(_on("text", "finishReason"), _on("ctx", "buffer"), _on("text", "accept", encode("x"))),
    ],
    "grammars": [
        *(
            *SAID,
            _generate(constrain=YES),
            _on("text", "collectText"),
            _on("text", "finishReason"),
            _on("ctx", "user", "b"),
        ),
        *(
            _generate(constrain=[YES, {"schema": ["ebnf", "yes|maybe"]}]),
            _on("text", "addStop", encode("y")),
            *STEP * 2,
        ),
        *(_on("ctx", "user", "c"), _generate(constrain={"schema": ["regex", "("]}), _on("ctx", "buffer")),
        *(
            _on("ctx", "user", "d"),
            _generate(),
            _on("text", "collectJson"),
            _on("ctx", "user", "e"),
            _generate(constrain=7),
        ),
    ],
    "values of a schema": [
        *(*SAID, _generate()),
        _on("text", "collectJson", options={"schema": '{"type": "object", "properties": {"a": {"type": "boolean"}}}'}),
        *(
            _on("ctx", "user", "x"),
            _generate(maxTokens=2),
            _on("text", "collectJson"),
            _on("ctx", "user", "y"),
            _generate(),
        ),
        _on("text", "collectJson", options={"schema": "{"}),
    ],
    "a grammar that rejects what the program accepts": [
        *(*SAID, _generate(constrain=YES), _on("text", "accept", encode("x")), _on("text", "accept", encode("ye"))),
        *(_on("text", "collectText"), _on("text", "finishReason")),
    ],
    "constraints of the program": [
        *(
            *SAID,
            _generate(constrain={"constraint": [[FIRST, 5], [0, 200], [], [FIRST + 90, 1], [3, -1]]}),
            *STEP,
            *STEP,
        ),
        *(
            _on("ctx", "fail"),
            _on("text", "next", **{"as": "step"}),
            _on("step", "execute"),
            _on("step", "execute"),
            TOLD,
        ),
        *(*STEP, *STEP, TOLD),
    ],
    "masks that allow nothing": [
        *(*SAID, _generate(logitMask=[200]), *STEP, _on("ctx", "user", "b")),
        *(_generate(logitMask=[0, 10], constrain={"constraint": [[50, 5]]}), *STEP),
    ],
    "a speculator": [
        *(
            *SAID,
            _generate(
                maxTokens=8, speculator={"speculator": [[encode("hex"), [13, 14, 15]], [encode("lo"), [15, 16]]]}
            ),
        ),
        *(*STEP, *STEP, TOLD, *STEP, _on("text", "finishReason"), _on("ctx", "seqLen"), _on("ctx", "buffer")),
    ],
    "speculators that draft nonsense": [
        *(*SAID, _generate(speculator={"speculator": [[[9], [2]]]}), *STEP, _generate(speculator=5)),
        *(
            _generate(speculator={"speculator": []}, systemSpeculation=True),
            _generate(speculator={"speculator": [[9]]}),
            *STEP,
        ),
        *(_generate(speculator={"speculator": [[[9, 8], [18, 18], [-1, 4]]]}), *STEP),
    ],
    "samplers": [
        *SAID,
        *(
            {
                "as": "text",
                "on": "ctx",
                "call": "generate",
                "args": [sampler],
                "options": {"maxTokens": 1, "autoFlush": False},
            }
            for sampler in (
                {"sampler": ["topK", 0.7, 5]},
                {"sampler": ["minP", 0.7, 0.2]},
                {"sampler": ["topKTopP", 0.7, 5, 0.5]},
                {"sampler": ["multinomial", 1.0, 2]},
                {"sampler": ["topP", -1.0, 0.5]},
                {"sampler": ["topP", 1.0, 1.5]},
                {"penalized": {"frequency": 0.5, "repetition": 1.25, "bias": {"9": 2.5}}},
            )
        ),
        *STEP,
        *STEP,
    ],
    "bids": [
        *(*SAID, _on("ctx", "setBid", 1.5), _on("ctx", "setBid", float("-1")), _on("ctx", "flush")),
        *(
            _on("ctx", "user", "a"),
            _generate(maxTokens=6, rebidEachStep=False),
            *STEP,
            _on("ctx", "setBid", 2.0),
            *STEP * 3,
        ),
        *(
            _on("ctx", "idle", **{"as": "outer"}),
            _on("ctx", "idle", **{"as": "inner"}),
            _on("ctx", "setBid", 4.0),
            *STEP,
        ),
        *(
            _on("inner", "leave"),
            _on("outer", "leave"),
            *STEP * 2,
            _on("text", "horizon", 3),
            _on("text", "maxTokens", 9),
        ),
    ],
    "passes by hand": [
        *(*SAID, _on("ctx", "forward", **{"as": "pass"}), _on("pass", "startPosition"), _on("pass", "execute")),
        *(_on("pass", "inputAt", [9], [1, 2]), _on("pass", "inputAt", [9], [9000]), _on("pass", "input", [500])),
        *(_on("pass", "input", encode("ab")), _on("pass", "inputAt", encode("c"), [40]), _on("pass", "mask", [0])),
        *(
            _on("pass", "execute"),
            _on("pass", "mask", [0, 50, 2]),
            _on("pass", "attentionMask", [[0, 3], [0, 4], [1, 4]]),
        ),
        *(_on("pass", "sample", [], GREEDY), _on("pass", "sample", [2], GREEDY, **{"as": "drawn"}), _on("ctx", "fail")),
        *(_on("pass", "execute"), _on("pass", "execute", **{"as": "out"}), _on("out", "token", {"ref": "drawn"})),
        *(
            _on("pass", "execute"),
            _on("ctx", "seqLen"),
            _on("ctx", "forward", **{"as": "pass"}),
            _on("pass", "startPosition"),
        ),
    ],
    "snapshots": [
        *(*SAID, _on("ctx", "flush"), _on("ctx", "user", "b"), _on("ctx", "save", "a"), _on("ctx", "save", "")),
        *(
            _on("Context", "open", {"ref": "model"}, "a", **{"as": "copy"}),
            _on("copy", "buffer"),
            _on("copy", "seqLen"),
        ),
        *(
            _on("Context", "take", {"ref": "model"}, "a", **{"as": "taken"}),
            _on("Context", "open", {"ref": "model"}, "a"),
        ),
        *(
            _on("Context", "delete", {"ref": "model"}, "a"),
            _on("ctx", "snapshot"),
            _on("ctx", "release"),
            _on("ctx", "release"),
        ),
        *(_on("ctx", "user", "x"), _on("ctx", "seqLen"), _on("ctx", "flush"), _on("taken", "seqLen")),
    ],
    "the end of the model's positions": [
        *(
            _on("ctx", "append", [9] * 190),
            _generate(autoFlush=False),
            _on("text", "collectTokens"),
            _on("text", "finishReason"),
        ),
        *(_on("ctx", "seqLen"), _on("ctx", "append", [9] * 300), _on("ctx", "flush"), _on("ctx", "buffer")),
    ],
    "nothing to go on from": [
        *(_generate(autoFlush=False), _on("text", "next"), _on("ctx", "flush"), *SAID, _on("ctx", "flush")),
        *(_generate(autoFlush=False), _on("text", "next")),
    ],
    "matchers": [
        _on("Grammar", "fromRegex", "yes|no", **{"as": "grammar"}),
        _on("model", "tokenizer", **{"as": "tokenizer"}),
        _on("Matcher", "new", {"ref": "grammar"}, {"ref": "tokenizer"}, options={"stopTokens": [5, 4]}, **{"as": "m"}),
        *(_on("m", "nextTokenLogitMask"), _on("m", "acceptTokens", encode("y")), _on("m", "fork", **{"as": "n"})),
        *(_on("n", "acceptTokens", encode("x")), _on("n", "acceptTokens", encode("es")), _on("n", "isTerminated")),
        *(
            _on("n", "isComplete"),
            _on("m", "isTerminated"),
            _on("n", "rollback", 1),
            _on("n", "reset"),
            _on("n", "isComplete"),
        ),
    ],
}

ANSWER = encode("<sys>final<tool>yes<eos>")
CALL = encode("<sys>commentary to=functions.f<tool>{}")

THINKING: dict[str, list[Act]] = {
    "a thought before the text": [
        *(*SAID, _generate(), *STEP * 3, _on("text", "collectText"), _on("text", "finishReason"), _on("ctx", "seal")),
        *(_on("ctx", "user", "b"), _generate(), *STEP * 8, _on("text", "collectText")),
    ],
    "a grammar begins with the answer": [
        *(
            *SAID,
            _generate(constrain=YES),
            _on("text", "collectTokens"),
            _on("ctx", "user", "b"),
            _generate(autoFlush=False),
        ),
        *(_on("text", "constrain", YES), _on("ctx", "cue"), _generate(autoFlush=False), _on("text", "collectJson")),
    ],
    "a limit of thoughts": [
        *(*SAID, _generate(thinkingBudget=3), *STEP * 2, _on("text", "collectText"), _on("text", "finishReason")),
        *(_on("ctx", "user", "b"), _generate(thinkingBudget=-1), _on("ctx", "buffer")),
    ],
}
CHANNELS: dict[str, list[Act]] = {
    "messages with headers": [
        *(
            *SAID,
            _generate(),
            _on("text", "accept", ANSWER),
            _on("text", "finishReason"),
            _on("ctx", "seal"),
            _on("ctx", "buffer"),
        ),
        *(
            _on("ctx", "user", "b"),
            _generate(),
            _on("text", "accept", CALL),
            _on("ctx", "seal"),
            _on("ctx", "answerTool", "f", 1),
        ),
        *(_on("ctx", "save", "a"), _generate(maxTokens=2), _on("text", "collectText")),
    ],
    "text of a message that was begun": [
        *(*SAID, _generate(maxTokens=9), _on("text", "accept", encode("<sys>final<tool>")), _on("text", "collectText")),
        *(_on("ctx", "user", "b"), _generate(maxTokens=4, thinkingBudget=2)),
        *(_on("ctx", "cue"), _generate(autoFlush=False, maxTokens=3), _on("text", "collectJson")),
    ],
}
"""Acts on models that reason before they answer."""
