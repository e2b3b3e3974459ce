"""One step of a Generator."""

from collections.abc import Awaitable, Callable, Collection, Generator, Sequence
from dataclasses import dataclass
from typing import Self

from inferlet._calls.checks import integer
from inferlet.forward import checked_probe
from inferlet.output import Output, PassSlots, ProbeHandle, SampleHandle
from pie_mlx.calls import Probe, Sampler
from pie_mlx.errors import InvalidArgumentError, StepConsumedError


@dataclass(frozen=True, slots=True)
class Cut:
    """`kept` tokens are emitted; `fed` tokens go to the constraints: the kept ones and the stop that ended them."""

    kept: list[int]
    fed: list[int]

    @property
    def stopped(self) -> bool:
        """Whether a stop token ended them."""
        return len(self.fed) > len(self.kept)


def cut(tokens: Sequence[int], stops: Collection[int], remaining: int | None) -> Cut:
    """Cut at the limit and at the first stop, which is not kept (G3). A stop beyond the limit does not count."""
    within = list(tokens if remaining is None else tokens[:remaining])
    for place, token in enumerate(within):
        if token in stops:
            return Cut(within[:place], within[: place + 1])
    return Cut(within, within)


class GenStep:
    """The next pass of a Generator, not run yet. A step that is never executed changes nothing;
    asking for the next one then raises InvalidArgumentError, unless tokens were accepted.

    `samples` tells whether the Generator's own sampler is attached; `probes` are those of this step alone; `most` is
    the largest number of tokens it may give.
    """

    def __init__(self, run: "Callable[[GenStep], Awaitable[Output]]") -> None:
        self._run = run
        self._consumed = False
        self.samples = True
        self.most = 1
        self.probes: list[tuple[ProbeHandle, int, Probe]] = []

    def __repr__(self) -> str:
        drawn = f"up to {self.most} tokens" if self.samples else "no sampler"
        return f"GenStep({'executed' if self._consumed else 'not executed'}, {drawn}, {len(self.probes)} probes)"

    def clear_sampler(self) -> Self:
        """Draw nothing in this step: read probes and choose with `Generator.accept`."""
        self.samples = False
        return self

    def probe(self, index: int, probe: Probe) -> ProbeHandle:
        """Read the distribution at one input of this step: 0-based, -1 is the last."""
        handle = ProbeHandle(checked_probe(probe))
        self.probes.append((handle, integer(index, "index"), probe))
        return handle

    def up_to(self, n: int) -> Self:
        """Let the engine draw up to `n` tokens in one step, as long as it does not need the program: no probe, no
        constraint or speculator of the program's own, no bid set by hand. Stops and limits apply as usual.

        Raises InvalidArgumentError below 1.
        """
        most = integer(n, "n")
        if most < 1:
            raise InvalidArgumentError(f"up_to: {n}", hint="a step draws at least one token")
        self.most = most
        return self

    async def execute(self) -> Output:
        """Run the pass and add the drawn tokens to the Generator: one message.

        When it raises, everything is as before and it can be executed again; after it ran, StepConsumedError. Raises
        InvalidArgumentError for a probe outside the input, EmptyMaskError naming the constraints, ContextBusyError
        while another step runs, and what `Forward.execute` raises.
        """
        if self._consumed:
            raise StepConsumedError("step: it was executed already", hint="take the next one from the Generator")
        self._consumed = True
        try:
            return await self._run(self)
        except Exception:
            self._consumed = False
            raise


def pass_slots(
    step: GenStep, count: int, sampler: Sampler, probes: Sequence[tuple[ProbeHandle, int, Probe]]
) -> tuple[PassSlots, SampleHandle | None]:
    """What a step reads of `count` inputs, with the `probes` of every step. Raises InvalidArgumentError for a probe of
    the step alone that is outside the input."""
    slots = PassSlots()
    drawn = SampleHandle() if step.samples else None
    if drawn is not None:
        slots.attach(drawn, [count - 1], sampler)
    for handle, index, probe in probes:
        if -count <= index < count:
            slots.attach(handle, [index % count], probe)
    for handle, index, probe in step.probes:
        if not -count <= index < count:
            raise InvalidArgumentError(
                f"probe: index {index} is outside the step's {count} inputs", hint="-1 is the last input"
            )
        slots.attach(handle, [index % count], probe)
    return slots, drawn


class Pause:
    """Awaiting it lets other tasks run once."""

    def __await__(self) -> Generator[None, None, None]:
        yield
