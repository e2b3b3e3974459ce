"""Engine doubles that also take steps ahead, of a model that thinks before it answers, and of one with channels."""

from typing import Any

from msgspec.structs import replace

from pie_mlx import calls
from tests.inferlet.toy_host import ToyHost
from tests.inferlet.toy_language import next_token

PREFETCHED = 3
THOUGHT = "hm</t>yes"
CHANNELS = {1: b"<|channel|>", 3: b"<|start|>", 4: b"<|end|>", 6: b"<|message|>"}
"""What control tokens of the toy language mean where replies are made of messages."""


class SteppingHost(ToyHost):
    """Steps follow passes that draw greedily without constraints. A limit of thoughts is one text here."""

    def answer(self, message: Any) -> Any:
        if isinstance(message, calls.CompileGrammar) and message.source.kind == "thought":
            message = replace(message, source=calls.GrammarSource("regex", THOUGHT))
        reply = super().answer(message)
        plan = message.continuation if isinstance(message, calls.Forward) else None
        if plan is None or message.matchers or message.logit_mask or not self._is_greedy(message):
            return reply
        steps = self._following(message, reply, min(plan.tokens, plan.tokens if plan.asked else PREFETCHED))
        if not plan.asked:
            return replace(reply, prefetched=steps)
        (drawn,) = reply.results
        produced = [*drawn.tokens, *steps]
        self._append(self.context(message.context), calls.Forward(message.context, produced[:-1]))
        results = [calls.SampledTokens(produced)]
        return replace(reply, results=results, kept=len(produced) - 1, counters=self.counters(message.context))

    def _is_greedy(self, message: calls.Forward) -> bool:
        reads = [slot.read for slot in message.slots]
        return len(reads) == 1 and isinstance(reads[0], calls.Sampler) and reads[0].is_argmax

    def _following(self, message: calls.Forward, reply: calls.ForwardReply, most: int) -> list[int]:
        """The tokens of the steps after a pass, of which none follows a stop token."""
        drawn = reply.results[0]
        text = [*self.context(message.context).tokens, drawn.tokens[-1]]  # pyright: ignore[reportAttributeAccessIssue]
        stops = message.continuation.stop_tokens if message.continuation else []
        found: list[int] = []
        while len(found) < most and text[-1] not in stops:
            found.append(next_token(text, self.reply))
            text.append(found[-1])
        return found


class ThinkingHost(SteppingHost):
    """Its cue opens a thought, and `</t>` closes it."""

    def answer(self, message: Any) -> Any:
        reply = super().answer(message)
        if not isinstance(message, calls.LoadModel):
            return reply
        thought = calls.ReasoningFormat("<t>", "</t>", opened_by_cue=True)
        return replace(reply, formats=replace(reply.formats, reasoning=thought, answer_opening="</t>"))


class ChannelHost(SteppingHost):
    """Its replies are messages with headers."""

    def answer(self, message: Any) -> Any:
        reply = super().answer(message)
        if isinstance(message, calls.LoadModel):
            opening = "<|channel|>final<|message|>"
            return replace(
                reply, formats=replace(reply.formats, stop_tokens=[5], channels=True, answer_opening=opening)
            )
        if isinstance(message, calls.ReadVocabulary):
            named = [CHANNELS.get(token, spelled) for token, spelled in zip(reply.token_ids, reply.tokens, strict=True)]
            return replace(reply, tokens=named)
        return reply
