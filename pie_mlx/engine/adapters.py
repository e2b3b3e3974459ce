"""The adapters of all users: their names, their versions, and which versions are still needed."""

import asyncio
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from pie_mlx.calls import LARGEST_SEED, SMALLEST_SEED, AdapterState
from pie_mlx.engine.kv import PageStore
from pie_mlx.engine.model.adapters import AdapterBank, AdapterContent, AdapterUse, Version
from pie_mlx.engine.model.runner.runner import Runner
from pie_mlx.errors import AdapterError, AdapterExistsError, AdapterNotFoundError, InvalidArgumentError
from pie_mlx.events import AdapterChanged, AdapterDestroyed, Event

NAME_LIMIT = 256
USERS = 64
"""The engine holds at most this many users' worth of adapters."""


@dataclass(slots=True, eq=False)
class Weights:
    """Weights in memory. Versions of several adapters may share them."""

    size_bytes: int = 0


@dataclass(slots=True, eq=False)
class Adapter:
    """An adapter of a user. `version` counts the changes of its weights; the lock `turn` orders them."""

    id: int
    username: str
    name: str
    version: int = 0
    size_bytes: int = 0
    evolves: bool = False
    destroyed: bool = False
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def current(self) -> Version:
        return self.id, self.version

    def state(self) -> AdapterState:
        """The state that programs receive."""
        return AdapterState(self.id, self.name, self.version, self.size_bytes)


class AdapterRegistry:
    """Adapters by user and name. Their contents are in the runner's AdapterBank. Belongs to the engine's loop.

    A version stays in memory while it is the newest, a pass computes with it, or a fill of a context or snapshot refers
    to it (R5). A call that raises changes nothing.
    """

    def __init__(
        self, runner: Runner, store: PageStore, *, limit: int, emit: Callable[[Event], None], numbers: Iterator[int]
    ) -> None:
        """Allows each user `limit` adapters at once, and gives each one of the `numbers`."""
        self._runner, self._store, self._limit, self._emit = runner, store, limit, emit
        self._by_name: dict[tuple[str, str], Adapter] = {}
        self._by_id: dict[int, Adapter] = {}
        self._ids = numbers
        self._known: dict[Version, Weights] = {}
        self._owners: dict[int, str] = {}
        self._leases: Counter[Version] = Counter()

    def check_integrity(self) -> None:
        """Raises RuntimeError unless versions, their owners and their leases agree."""
        if {adapter for adapter, _ in self._known} != self._owners.keys():
            raise RuntimeError("adapters: a version without an owner, or an owner of none")
        if not self._leases.keys() <= self._known.keys() or min(self._leases.values(), default=1) < 1:
            raise RuntimeError("adapters: a lease of no version, or of no pass")

    # Names.

    async def create(self, username: str, name: str) -> Adapter:
        """Creates an adapter that changes nothing yet. Raises AdapterExistsError, InvalidArgumentError for a bad name,
        or AdapterError at the limit."""
        return await self._begin(username, name, AdapterContent)

    async def fork(self, source: Adapter, name: str) -> Adapter:
        """An independent copy under another name. Contents are immutable, so both share one until either changes."""
        version = source.current
        with self._leased(version):
            weights = self._known[version]
            made = await self._begin(source.username, name, lambda: self._bank.get(version), weights)
        made.size_bytes, made.evolves = source.size_bytes, source.evolves
        self._tell(made)
        return made

    def open(self, username: str, name: str) -> Adapter | None:
        """The user's adapter of that name."""
        return self._by_name.get((username, name))

    def find(self, username: str, adapter: int) -> Adapter:
        """An adapter by its number. Raises AdapterNotFoundError if it is destroyed or belongs to another user."""
        found = self._by_id.get(adapter)
        if found is None or found.username != username:
            raise AdapterNotFoundError(f"adapter {adapter}: already destroyed", hint="create, fork or open another one")
        return found

    def has(self, adapter: int) -> bool:
        """Whether the number is one of an adapter of this model."""
        return adapter in self._by_id

    def all(self) -> Sequence[Adapter]:
        """Every adapter, oldest first."""
        return list(self._by_id.values())

    @property
    def size_bytes(self) -> int:
        """Bytes of all versions in memory, without the stacks of those in use."""
        return _size_bytes(self._known.values())

    def bytes_of(self, username: str) -> int:
        """Bytes of a user's versions, including those of destroyed adapters still in use."""
        return _size_bytes(weights for version, weights in self._known.items() if self._owners[version[0]] == username)

    async def destroy(self, adapter: Adapter) -> None:
        """Frees the name now, and the weights once they are no longer needed (A1)."""
        self._forget(adapter)
        self._emit(AdapterDestroyed(adapter.id, adapter.username, adapter.name))
        await self.sweep()

    # Weights.

    async def change(self, adapter: Adapter, make: Callable[[AdapterContent], AdapterContent]) -> AdapterState:
        """Replaces the content by the result of `make`, on the MLX thread, as a new version (A4). Raises the errors of
        `make`, and AdapterNotFoundError if the adapter was destroyed meanwhile."""
        async with adapter.turn:
            self.find(adapter.username, adapter.id)
            before = adapter.current
            after = (adapter.id, adapter.version + 1)
            self._known[after] = Weights()  # first, so that a sweep finds it even if this call is cancelled
            with self._leased(after):
                content = await self._runner.call(lambda: self._put(after, make(self._bank.get(before))))
                self._known[after].size_bytes = content.size_bytes
            if not adapter.destroyed:
                adapter.version, adapter.size_bytes = after[1], content.size_bytes
                adapter.evolves = content.evolution is not None
                self._tell(adapter)
        await self.sweep()
        self.find(adapter.username, adapter.id)
        return adapter.state()

    async def read(self, adapter: Adapter) -> AdapterContent:
        """The present content."""
        version = adapter.current
        with self._leased(version):
            return await self._runner.call(lambda: self._bank.get(version))

    # Use.

    @contextmanager
    def used(self, username: str, adapter: int, zo_seed: int) -> Generator[AdapterUse, None, None]:
        """What the tokens of a pass are computed with. Inside the block the weights stay as they are (A1).

        Raises AdapterNotFoundError, and InvalidArgumentError for a seed over 64 bits or an adapter without evolution
        (Z2).
        """
        if not adapter:
            raise InvalidArgumentError("zo_seed: the pass has no adapter", hint="noise is added to an adapter: set one")
        found = self.find(username, adapter)
        if zo_seed and not found.evolves:
            raise InvalidArgumentError(
                f"zo_seed: the adapter {found.name!r} is not initialised", hint="call zo.initialize() first"
            )
        if not SMALLEST_SEED <= zo_seed <= LARGEST_SEED:
            raise InvalidArgumentError(f"zo_seed: {zo_seed} has more than 64 bits", hint="use a signed 64-bit integer")
        with self._leased(found.current):
            yield AdapterUse(*found.current, zo_seed)

    async def sweep(self) -> None:
        """Drops the versions that are no longer needed."""
        dead = self._known.keys() - {adapter.current for adapter in self._by_id.values()} - self._leases.keys()
        if not dead:
            return
        dead -= self._store.adapters_in_use()
        for version in dead:
            del self._known[version]
        for adapter in {version[0] for version in dead} - {version[0] for version in self._known}:
            del self._owners[adapter]
        if dead:  # already forgotten above: a cancelled sweep could not be repeated
            await asyncio.shield(self._runner.call(lambda: self._bank.drop(dead)))

    @property
    def _bank(self) -> AdapterBank:
        return self._runner.model.adapters

    def _put(self, version: Version, content: AdapterContent) -> AdapterContent:
        self._bank.put(version, content)
        return content

    async def _begin(
        self, username: str, name: str, make: Callable[[], AdapterContent], weights: Weights | None = None
    ) -> Adapter:
        self._check(username, name)
        adapter = Adapter(next(self._ids), username, name)
        self._by_name[username, name] = self._by_id[adapter.id] = adapter
        self._owners[adapter.id] = username
        self._known[adapter.current] = weights or Weights()
        try:
            await self._runner.call(lambda: self._put((adapter.id, 0), make()))
        except BaseException:
            self._forget(adapter)
            raise
        return adapter

    def _check(self, username: str, name: str) -> None:
        if not 1 <= len(name) <= NAME_LIMIT:
            raise InvalidArgumentError(
                f"adapter name: {len(name)} characters long", hint=f"use 1 to {NAME_LIMIT} characters"
            )
        if (username, name) in self._by_name:
            raise AdapterExistsError(f"adapter {name!r}: already exists", hint="open it, or choose another name")
        own = sum(adapter.username == username for adapter in self._by_id.values())
        if own >= self._limit or len(self._by_id) >= USERS * self._limit:
            raise AdapterError(
                f"adapter {name!r}: this user has {own} adapters, the most allowed",
                hint="destroy one, or raise max_adapters in [model.engine]",
            )

    def _forget(self, adapter: Adapter) -> None:
        adapter.destroyed = True
        self._by_id.pop(adapter.id, None)
        self._by_name.pop((adapter.username, adapter.name), None)

    @contextmanager
    def _leased(self, version: Version) -> Generator[None, None, None]:
        self._leases[version] += 1
        try:
            yield
        finally:
            self._leases[version] -= 1
            if not self._leases[version]:
                del self._leases[version]

    def _tell(self, adapter: Adapter) -> None:
        self._emit(AdapterChanged(adapter.id, adapter.username, adapter.name, adapter.version, adapter.size_bytes))


def _size_bytes(weights: Iterable[Weights]) -> int:
    return sum(one.size_bytes for one in set(weights))
