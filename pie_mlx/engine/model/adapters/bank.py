"""The adapters in memory, applied to the rows of a forward pass."""

import math
from collections.abc import Callable, Collection, Generator, Mapping, Sequence, Set
from contextlib import AbstractContextManager, contextmanager

import mlx.core as mx

from pie_mlx.backends import current_backend
from pie_mlx.engine.model.adapters import expert_order
from pie_mlx.engine.model.adapters.content import AdapterContent, AdapterUse, LowRank
from pie_mlx.engine.model.adapters.evolution import perturbed
from pie_mlx.engine.model.adapters.projections import Projections, RowAdapters
from pie_mlx.engine.model.adapters.stacks import EMPTY, StackSet, stack_up
from pie_mlx.engine.model.adapters.targets import Target
from pie_mlx.engine.model.mlx_lm.hook import RowSelection
from pie_mlx.errors import AdapterError
from pie_mlx.metal.launcher import KernelLauncher

SPARE_MEMBERS = 32
"""Unused adapters that stay in the stacks, so that a changing batch needs no new stacks."""

Version = tuple[int, int]
"""An adapter and its version."""


class AdapterBank:
    """Contents by adapter and version. Belongs to the MLX thread.

    A stored content is immutable and stays until it is dropped.
    """

    def __init__(self, find_targets: Callable[[], Mapping[str, Target]], selection: RowSelection) -> None:
        """`find_targets` is called once, for the first adapter."""
        self._find_targets = find_targets
        self._selection = selection
        self._targets: Mapping[str, Target] | None = None
        self._contents: dict[Version, AdapterContent] = {}
        self._projections = Projections()
        self._set: StackSet = EMPTY
        self._perturbed: dict[AdapterUse, Mapping[str, LowRank]] = {}

    @property
    def targets(self) -> Mapping[str, Target]:
        """The projections that adapters can add to, by path."""
        if self._targets is None:
            expert_order.install()
            self._targets = self._find_targets()
        return self._targets

    @property
    def size_bytes(self) -> int:
        """Bytes of all adapters in memory, including the stacks of those in use."""
        return sum(content.size_bytes for content in self._contents.values()) + self._set.size_bytes

    @property
    def versions(self) -> Set[Version]:
        """The versions in memory."""
        return self._contents.keys()

    def get(self, version: Version) -> AdapterContent:
        """The content of a version in memory."""
        return self._contents[version]

    def put(self, version: Version, content: AdapterContent) -> None:
        """Stores a content."""
        self._contents[version] = content

    @property
    def blocks(self) -> int:
        """Blocks of the model."""
        return 1 + max((target.layer for target in self.targets.values() if target.layer is not None), default=-1)

    def evolution_bytes(self, names: Collection[str], rank: int) -> int:
        """Bytes of an evolution of this rank on the projections with these names: matrices and their three states."""
        chosen = [target for target in self.targets.values() if target.name in names]
        elements = sum(math.prod(one.down_shape(rank)) + math.prod(one.up_shape(rank)) for one in chosen)
        return 4 * elements * mx.float32.size

    def require_room(self, size_bytes: int, held_bytes: int) -> None:
        """Raises AdapterError if weights of this size, plus a stack of them, do not fit the free memory, or if the
        user, who holds `held_bytes`, would then hold more than half of what is available to users."""
        left = current_backend().memory_bytes() - mx.get_active_memory()
        if 2 * size_bytes > left:
            raise AdapterError(
                f"adapter: it needs {2 * size_bytes >> 20:,} MiB, {left >> 20:,} MiB are free",
                hint="destroy adapters, or start the engine with fewer pages",
            )
        if 2 * (held_bytes + size_bytes) > left + held_bytes:
            raise AdapterError(
                f"adapter: this user's adapters would take {(held_bytes + size_bytes) >> 20:,} MiB, and of "
                f"{(left + held_bytes) >> 20:,} MiB a user may take half",
                hint="destroy some of yours, and the contexts and snapshots computed with them",
            )

    def drop(self, versions: Collection[Version]) -> None:
        """Drops contents."""
        for version in versions:
            self._contents.pop(version, None)
        if any(use[:2] not in self._contents for use in self._set.slots):
            self._set = EMPTY
        self._perturbed = {use: one for use, one in self._perturbed.items() if use[:2] in self._contents}

    @contextmanager
    def applied(
        self, uses: Sequence[tuple[int, int, int]], launcher: KernelLauncher | None, dtype: mx.Dtype
    ) -> Generator[None, None, None]:
        """Inside the block, the model computes token row i with `uses[i]`. Raises RuntimeError for a version not in
        memory."""
        wanted = {use for use in uses if self._changes_something(use)}
        if not wanted:
            yield
            return
        found = self._stacked(wanted, dtype)
        slots = [found.slots.get(AdapterUse(*use), 0) for use in uses]
        try:
            with self._projections.adding(found.stacks.values(), RowAdapters(slots, self._selection, launcher)):
                yield
        finally:
            expert_order.forget()

    def only(self, rows: range) -> AbstractContextManager[None]:
        """Inside, the model computes these rows of a pass and no others."""
        return self._projections.only(rows)

    def _changes_something(self, use: tuple[int, int, int]) -> bool:
        if not use[0]:
            return False
        content = self._contents.get(use[:2])
        if content is None:
            raise RuntimeError(f"adapter {use[0]}: its version {use[1]} is not in memory any more")
        return bool(content.additions)

    def _stacked(self, wanted: Collection[tuple[int, int, int]], dtype: mx.Dtype) -> StackSet:
        """Stacks with at least these members: the existing ones, or new ones."""
        if not all(use in self._set.slots for use in wanted):
            spare = [use for use in self._set.slots if use not in wanted][-SPARE_MEMBERS:]
            members = [*spare, *(AdapterUse(*use) for use in sorted(wanted))]
            self._set = stack_up([(use, self._additions(use)) for use in members], self.targets, dtype)
            self._perturbed = {use: self._perturbed[use] for use in members if use in self._perturbed}
        return self._set

    def _additions(self, use: AdapterUse) -> Mapping[str, LowRank]:
        content = self._contents[use[:2]]
        if not use.zo_seed or content.evolution is None:
            return content.additions
        if use not in self._perturbed:
            self._perturbed[use] = perturbed(content.additions, content.evolution, use.zo_seed)
        return self._perturbed[use]
