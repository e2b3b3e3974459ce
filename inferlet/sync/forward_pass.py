"""One pass built by hand, on pages reserved by hand."""

from collections.abc import Sequence
from typing import Self

from inferlet._calls.checks import integers
from inferlet.adapter import Adapter, checked_adapter, checked_seed
from inferlet.model import Model
from inferlet.sync._blocking import wait
from inferlet.sync.context import Context
from pie_mlx import calls
from pie_mlx.calls import Brle
from pie_mlx.errors import InvalidArgumentError, InvalidTypeError, PieError, SpeculationError, StepConsumedError


class ForwardPass:
    """Built by its methods, run once by `execute`. It reserves and commits no pages: `ctx.inner()` does.

    Raises KvCapacityError at `execute` when the input does not fit the pages reserved.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._context: Context | None = None
        self._tokens: list[int] = []
        self._positions: list[int] = []
        self._masks: list[Brle] | None = None
        self._logit_mask: Brle = []
        self._slots: list[calls.Slot] = []
        self._drafts: list[int] = []
        self._adapter: Adapter | None = None
        self._zo_seed = 0
        self._executed = False

    def context(self, context: Context) -> Self:
        """The context whose KV grows. Raises InvalidTypeError for anything else."""
        if not isinstance(context, Context):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidTypeError(f"context: got {type(context).__name__}", hint="pass a Context of the blocking SDK")
        self._context = context
        return self

    def input_tokens(self, tokens: Sequence[int], positions: Sequence[int]) -> Self:
        """Add input, with a position for each token."""
        if len(tokens) != len(positions):
            raise InvalidArgumentError(
                f"input_tokens: {len(tokens)} tokens and {len(positions)} positions", hint="give one position per token"
            )
        self._tokens += integers(tokens, "tokens")
        self._positions += integers(positions, "positions")
        return self

    def input_speculative_tokens(self, tokens: Sequence[int], positions: Sequence[int]) -> Self:
        """Add drafts after the input. The only sampler, at the last input, returns every verified token; the drafts
        among these stay in KV. Raises SpeculationError for positions that do not follow the input's.
        """
        first = self._positions[-1] + 1 if self._positions else 0
        if not self._positions or list(positions) != list(range(first, first + len(tokens))):
            raise SpeculationError(
                f"input_speculative_tokens: {len(tokens)} drafts at {list(positions)[:8]}",
                hint="add the input first, and give one position for each draft, after that of the last input",
            )
        self._drafts = integers(tokens, "tokens")
        return self

    def attention_mask(self, rows: Sequence[Brle]) -> Self:
        """One BRLE row per input token over KV slots."""
        self._masks = [integers(row, "mask") for row in rows]
        return self

    def logit_mask(self, mask: Brle) -> Self:
        """A BRLE mask of the vocabulary for every sampled row."""
        self._logit_mask = integers(mask, "mask")
        return self

    def sampler(self, indices: Sequence[int], sampler: calls.Sampler | calls.Distribution | calls.HiddenState) -> Self:
        """Read the rows of these inputs. Raises InvalidArgumentError for none."""
        places = integers(indices, "indices")
        if not places:
            raise InvalidArgumentError("sampler: no indices", hint="name the inputs whose rows are to be read")
        self._slots += [calls.Slot(place, sampler) for place in places]
        return self

    def adapter(self, adapter: Adapter | None) -> Self:
        """Compute the input with an adapter."""
        self._adapter = checked_adapter(adapter)
        return self

    def zo_seed(self, seed: int | None) -> Self:
        """Add the noise of a seed to the adapter; 0 and None are no noise."""
        self._zo_seed = checked_seed(seed)
        return self

    def execute(self) -> list[calls.AnyResult]:
        """Run the pass; one result per index, in the order of the requests. When it raises, everything is as before
        and it can be executed again; after it ran, StepConsumedError.

        Raises InvalidArgumentError without context or input, and what passes raise.
        """
        if self._executed:
            raise StepConsumedError("ForwardPass: it was executed", hint="build another one")
        if self._context is None:
            raise InvalidArgumentError("ForwardPass: no context", hint="call context() first")
        handle = self._context.asynchronous._handle  # pyright: ignore[reportPrivateUsage]
        # Drafts follow plain input: at the positions of its slots.
        plain = self._positions == list(range(handle.next_slot, handle.next_slot + len(self._tokens)))
        request = calls.Forward(
            self._context.id,
            self._tokens,
            positions=None if plain and self._drafts else self._positions,
            speculation=calls.Speculation(len(self._drafts), self._drafts) if self._drafts else None,
            attention_masks=self._masks,
            slots=self._slots,
            logit_mask=self._logit_mask,
            reserve=False,
            commit=False,
            adapter=0 if self._adapter is None else self._adapter.id,
            zo_seed=self._zo_seed,
        )
        self._executed = True
        try:
            return list(wait(handle.run(request)).results)
        except PieError:
            self._executed = False
            raise
