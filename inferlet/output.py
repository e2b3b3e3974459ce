"""The results of a pass."""

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pie_mlx.calls import (
    AnyResult,
    AttentionScores,
    AttentionScoreValues,
    Distribution,
    Entropy,
    EntropyValue,
    ForwardReply,
    HiddenMean,
    HiddenState,
    HiddenStateValues,
    Logits,
    Logprob,
    Logprobs,
    LogprobValues,
    Probabilities,
    Probe,
    RawLogits,
    SampledTokens,
    Sampler,
    Slot,
)

R = TypeVar("R", bound=AnyResult)


class SampleHandle:
    """Names the tokens of one `sample`; read them from the pass's Output. They are `arity` results of the engine's
    reply from `slot` on; 0 until the handle is part of a pass."""

    def __init__(self) -> None:
        self.slot, self.arity = 0, 0


class ProbeHandle:
    """Names the result of one `probe`; read it from the Output of the pass, or of every step. It is result `slot` of
    the engine's reply, by the accessor `kind` of Output."""

    def __init__(self, probe: Probe) -> None:
        self.slot, self.arity = 0, 0
        self.kind = _KINDS[type(probe)]


_KINDS: dict[type[Probe], str] = {
    Distribution: "distribution",
    Logits: "logits",
    Logprob: "logprobs",
    Logprobs: "logprobs",
    Entropy: "entropy",
    HiddenState: "hidden_state",
    HiddenMean: "hidden_state",
    AttentionScores: "attention_scores",
}

Handle = SampleHandle | ProbeHandle


@dataclass(slots=True)
class PassSlots:
    """Slots in order of attachment, and for each handle the range of slots it names (F6)."""

    slots: list[Slot] = field(default_factory=list[Slot])
    spans: dict[Handle, range] = field(default_factory=dict[Handle, range])

    def attach(self, handle: Handle, indices: Sequence[int], read: Sampler | Probe) -> None:
        """Add one slot per index."""
        first = len(self.slots)
        self.slots += [Slot(index, read) for index in indices]
        self.spans[handle] = range(first, len(self.slots))
        handle.slot, handle.arity = first, len(indices)


class Output:
    """Results of one pass, read through the handles that were attached to it.

    A handle of another kind or another pass gives None (an empty list from `tokens_at`).
    """

    def __init__(
        self,
        reply: ForwardReply | None,
        spans: Mapping[Handle, range],
        *,
        tokens: Sequence[int] = (),
        auto_sampler: SampleHandle | None = None,
    ) -> None:
        self._reply = reply
        self._spans = spans
        self._tokens = list(tokens)
        self._auto_sampler = auto_sampler

    @property
    def tokens(self) -> list[int]:
        """Tokens a Generator emitted in this step, after stops and limits; [] for raw passes."""
        return self._tokens

    @property
    def auto_sampler(self) -> SampleHandle | None:
        """The handle of the Generator's own sampler; None for raw passes and after `clear_sampler()`."""
        return self._auto_sampler

    @property
    def raw(self) -> ForwardReply | None:
        """The engine's reply with every slot; None when there was nothing to run."""
        return self._reply

    def __repr__(self) -> str:
        results = 0 if self._reply is None else len(self._reply.results)
        return f"Output(tokens={self._tokens}, {results} results)"

    def token(self, handle: SampleHandle) -> int | None:
        """The token of a sampler with one index and one draw."""
        tokens = self.tokens_at(handle)
        return tokens[0] if len(tokens) == 1 else None

    def tokens_at(self, handle: Handle) -> list[int]:
        """All tokens of a sampler: by index, then by draw."""
        return [token for result in self._results(handle, SampledTokens) for token in result.tokens]

    def distribution(self, handle: Handle) -> tuple[list[int], list[float]] | None:
        """Token ids and probabilities of a `Distribution` probe, most likely first."""
        found = self._one(handle, Probabilities)
        return (found.token_ids, found.probabilities) if found else None

    def logits(self, handle: Handle) -> bytes | None:
        """A `Logits` probe: vocabulary times 4 bytes, native-endian float32."""
        found = self._one(handle, RawLogits)
        return found.data if found else None

    def logprobs(self, handle: Handle) -> list[float] | None:
        """The natural logarithms of a `Logprob` or `Logprobs` probe, in request order, or those of the tokens of a
        sampler that scores."""
        scored = [value for result in self._results(handle, SampledTokens) for value in result.logprobs]
        found = self._one(handle, LogprobValues)
        return found.values if found else scored or None

    def states(self, handle: SampleHandle) -> list[list[float]]:
        """What the sampler's rule carries after each token: `sampler.after(states[-1])` draws the next one."""
        return [states for result in self._results(handle, SampledTokens) for states in result.states]

    def entropy(self, handle: Handle) -> float | None:
        """An `Entropy` probe, in nats."""
        found = self._one(handle, EntropyValue)
        return found.nats if found else None

    def hidden_state(self, handle: Handle) -> list[float] | None:
        """A `HiddenState` or `HiddenMean` probe: as many float32 values as the model is wide."""
        found = self._one(handle, HiddenStateValues)
        return found.values if found else None

    def attention_scores(self, handle: Handle) -> list[list[float]] | None:
        """An `AttentionScores` probe: one row with a score for each page of the context; `by_group` a row for each KV
        head, layer by layer."""
        found = self._one(handle, AttentionScoreValues)
        if found is None:
            return None
        scores = array("f", found.data)
        pages = len(scores) // found.groups
        return [scores[start : start + pages].tolist() for start in range(0, len(scores), pages)]

    def _results(self, handle: Handle, kind: type[R]) -> list[R]:
        if self._reply is None:
            return []
        found = [self._reply.results[slot] for slot in self._spans.get(handle, ())]
        return [result for result in found if isinstance(result, kind)]

    def _one(self, handle: Handle, kind: type[R]) -> R | None:
        found = self._results(handle, kind)
        return found[0] if found else None
