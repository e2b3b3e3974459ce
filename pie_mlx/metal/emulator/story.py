"""The story of a pool: kernels, reads by MLX operations, and the beginnings and waits of evaluations, in order."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import mlx.core as mx
import numpy as np
import numpy.typing as npt

from pie_mlx.metal.emulator import launch, memory
from pie_mlx.metal.emulator.emulator import Access

Elements = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Touch:
    """What an operation did to one array of the pool, identified by its address."""

    address: int
    read: Elements
    written: Elements

    def conflicts(self, later: "Touch") -> bool:
        """Whether the order of the two matters."""
        if self.address != later.address:
            return False
        return bool((self.written & (later.read | later.written)).any() or (self.read & later.written).any())


@dataclass(frozen=True, slots=True, eq=False)
class Operation:
    """A kernel or an MLX operation: the arrays it takes and makes, by identity, and its accesses to the pool."""

    name: str
    takes: frozenset[int]
    makes: frozenset[int]
    touches: tuple[Touch, ...]

    def conflicts(self, later: "Operation") -> bool:
        return any(own.conflicts(other) for own in self.touches for other in later.touches)


@dataclass(frozen=True, slots=True)
class Begun:
    """MLX encoded `operations` (numbers in the story). With `waits`, the host continued once those in `done` had
    ended."""

    operations: tuple[int, ...]
    done: tuple[int, ...] = ()


@dataclass
class Story:
    """Operations in the order in which the engine built them, and when they began.

    An operation outside all chains when others begin, because its step was dropped, never runs. `fences` returns the
    pool's last fences: an evaluation begins everything that they depend on.
    """

    fences: Callable[[], Iterable[mx.array]]
    operations: list[Operation] = field(default_factory=list[Operation])
    moments: list[Begun] = field(default_factory=list[Begun])
    _kept: list[object] = field(default_factory=list[object])
    _maker: dict[int, int] = field(default_factory=dict[int, int])
    _begun: set[int] = field(default_factory=set[int])
    _written: set[int] = field(default_factory=set[int])

    def launched(self, access: Access) -> None:
        """Records that a kernel was built. For an emulator's `on_access`."""
        self._kept += [*access.inputs.values(), *access.outputs]  # keeps identities unique
        touches = [
            _touch(array, access.touched[name]) for name, array in access.inputs.items() if name in access.touched
        ]
        self._written |= {touch.address for touch in touches if touch.written.any()}
        takes = frozenset(map(id, access.inputs.values()))
        self._add(Operation(access.kernel, takes, frozenset(map(id, access.outputs)), tuple(touches)))

    def read(
        self, name: str, arrays: Sequence[mx.array], elements: Sequence[Elements], made: Sequence[mx.array]
    ) -> None:
        """Records an MLX operation that reads these elements of the pool's arrays and makes others."""
        self._kept += made
        touches = tuple(
            Touch(_address(array), chosen.ravel(), np.zeros(chosen.size, np.bool_))
            for array, chosen in zip(arrays, elements, strict=True)
        )
        self._add(Operation(name, frozenset(map(id, arrays)), frozenset(map(id, made)), touches))
        # MLX operations belong to no chain: they are evaluated at once.
        self._begin({len(self.operations) - 1})

    def begun(self) -> None:
        """Records the start of an evaluation of everything that the last fences depend on."""
        self._begin(self._before(self.fences()))

    def waited(self, arrays: Iterable[mx.array]) -> None:
        """Records the start of an evaluation, and that the host waited for `arrays`."""
        self.begun()
        self._wait(self._before(arrays))

    def synchronized(self) -> None:
        """Records that the host waited for everything that had begun."""
        self._wait(self._begun)

    def pool_operations(self) -> list[int]:
        """Numbers of the operations that ran and touch memory that some operation writes in place."""
        return [
            number
            for number in sorted(self._begun)
            if any(touch.address in self._written for touch in self.operations[number].touches)
        ]

    def conflicts(self) -> Iterator[tuple[int, int]]:
        """Pairs of operations that ran and whose order matters, earlier one first."""
        numbers = self.pool_operations()
        for place, later in enumerate(numbers):
            for earlier in numbers[:place]:
                if self.operations[earlier].conflicts(self.operations[later]):
                    yield earlier, later

    def fence_edges(self) -> list[tuple[int, int]]:
        """The arrays that an operation on the pool takes from another one: (its number, the array)."""
        on_pool = set(self.pool_operations())
        return [
            (number, array)
            for number in sorted(on_pool)
            for array in self.operations[number].takes
            if self._maker.get(array) in on_pool
        ]

    def without(self, number: int, array: int) -> "Story":
        """The story without one of an operation's inputs."""
        operation = self.operations[number]
        operations = [*self.operations]
        operations[number] = replace(operation, takes=operation.takes - {array})
        return replace(self, operations=operations)

    def makers(self, number: int) -> set[int]:
        """Operations whose outputs an operation takes."""
        return {self._maker[array] for array in self.operations[number].takes if array in self._maker}

    def _add(self, operation: Operation) -> None:
        for array in operation.makes:
            self._maker[array] = len(self.operations)
        self.operations.append(operation)

    def _before(self, arrays: Iterable[mx.array]) -> set[int]:
        """Operations that arrays depend on."""
        waiting = [self._maker[id(array)] for array in arrays if id(array) in self._maker]
        found: set[int] = set()
        while waiting:
            number = waiting.pop()
            if number not in found:
                found.add(number)
                waiting += self.makers(number)
        return found

    def _begin(self, numbers: set[int]) -> None:
        new = numbers - self._begun
        if new:
            self._begun |= new
            self.moments.append(Begun(tuple(sorted(new))))

    def _wait(self, numbers: set[int]) -> None:
        if numbers:
            self.moments.append(Begun((), tuple(sorted(numbers))))


def flat(values: Any) -> Iterator[mx.array]:
    """The arrays of nested lists."""
    if isinstance(values, mx.array):
        yield values
    elif isinstance(values, list | tuple):
        for value in cast("Iterable[Any]", values):
            yield from flat(value)


def _address(array: mx.array) -> int:
    return memory.host_view(array).ctypes.data


def _touch(array: mx.array, touched: memory.Array) -> Touch:
    read, written = ((touched & bit).astype(np.bool_) for bit in (launch.READ, launch.WRITTEN))
    return Touch(_address(array), read, written)
