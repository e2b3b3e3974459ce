"""Snapshots: contexts saved by user and name. They outlive the inferlet that saved them."""

from dataclasses import dataclass
from typing import Any

from pie_mlx.engine.kv.contexts.context import Context, ContextTable
from pie_mlx.engine.kv.contexts.suspension import at_rest, copies_of
from pie_mlx.engine.kv.contexts.working import pages_for
from pie_mlx.engine.kv.pages.image import Image, ImageKeeper, Tail, cut_tail
from pie_mlx.engine.kv.pages.record import IntegrityError, Segment
from pie_mlx.engine.kv.pages.trie import Place, PrefixTrie, chain_of
from pie_mlx.engine.kv.pages.values import PageCopy
from pie_mlx.engine.kv.snapshot_limits import SnapshotLimits, SnapshotUsage, image_bytes, kept_bytes
from pie_mlx.errors import InvalidArgumentError, SnapshotError, SnapshotNotFoundError

FRESH_PREFIX = "__snapshot_"
LONGEST_NAME = 256


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """A saved context. `held` is where it stood in the trie when saved, `notes` belong to the caller, and `size_bytes`
    counts the tokens and the notes."""

    image: Image
    held: Segment
    notes: Any
    size_bytes: int


class SnapshotStore:
    """The snapshots of one model."""

    def __init__(
        self,
        contexts: ContextTable,
        trie: PrefixTrie,
        images: ImageKeeper,
        page_size: int,
        limits: SnapshotLimits,
    ) -> None:
        self.limits = limits
        self._contexts = contexts
        self._trie = trie
        self._pool = trie.pool
        self._images = images
        self._page_size = page_size
        self._by_name: dict[tuple[str, str], Snapshot] = {}
        self._usage: dict[str, SnapshotUsage] = {}
        self._fresh_names: set[str] = set()
        self._next_fresh = 1

    def fresh_name(self) -> str:
        """A name that no user can choose, for one `save` (N3)."""
        name = f"{FRESH_PREFIX}{self._next_fresh}"
        self._next_fresh += 1
        self._fresh_names.add(name)
        return name

    def require_room(self, context: int, user: str, name: str, notes_bytes: int) -> None:
        """Raises SnapshotError if the user's limits leave no room for this context. A snapshot that it replaces does
        not count."""
        held, limits = self._contexts[context].counters(), self.limits
        size_bytes = kept_bytes(held.committed * self._page_size, held.working_tokens) + notes_bytes
        replaced = self._by_name.get((user, name))
        after = self._of(user).changed(
            *((1, size_bytes) if replaced is None else (0, size_bytes - replaced.size_bytes))
        )
        if not after.fits(limits):
            raise SnapshotError(
                f"snapshots: {after.snapshots} with {after.size_bytes >> 20} MiB of tokens and notes; a user may keep "
                f"{limits.user_snapshots} with {limits.user_bytes >> 20} MiB",
                hint="take or delete some: snapshots outlive the programs that saved them",
            )

    def is_overfull(self, user: str) -> bool:
        """Whether the user is over the limits, which `put` does not check."""
        return not self._of(user).fits(self.limits)

    def save(self, number: int, user: str, name: str, notes: Any, notes_bytes: int = 0) -> tuple[PageCopy, ...]:
        """Saves the context and the caller's `notes`, replacing the user's snapshot of that name (N2).

        Returns the page copies to do. Raises InvalidArgumentError, or SnapshotError if the user is at the limits. Never
        raises for lack of pages: if copies do not fit, opening the snapshot replays the working tokens.
        """
        context = self._contexts[number]
        self._check_name(name)
        self.require_room(number, user, name, notes_bytes)
        self._fresh_names.discard(name)
        if context.image is not None:
            image, copies = at_rest(context.image, self._page_size), ()
        else:
            image, copies = self._image_of(context)
        self.put(user, name, image, notes, notes_bytes)
        return copies

    def put(self, user: str, name: str, image: Image, notes: Any, notes_bytes: int) -> None:
        """Stores an image as the user's snapshot of that name, replacing an older one."""
        self._images.retain(image)
        replaced = self._by_name.get((user, name))
        size_bytes = image_bytes(image, self._page_size) + notes_bytes
        self._by_name[user, name] = Snapshot(image, self._stand(image), notes, size_bytes)
        self._count(user, 1, size_bytes)
        if replaced is not None:
            self._count(user, -1, -replaced.size_bytes)
            self._let_go(replaced)

    def find(self, user: str, name: str) -> Snapshot | None:
        """The user's snapshot of that name."""
        return self._by_name.get((user, name))

    def copy_image(self, snapshot: Snapshot) -> Image:
        """The image of a snapshot for one more holder."""
        self._images.retain(snapshot.image)
        return snapshot.image

    def remove(self, user: str, name: str) -> Snapshot | None:
        """Removes a snapshot. Its image then belongs to the caller."""
        snapshot = self._by_name.pop((user, name), None)
        if snapshot is not None:
            self._count(user, -1, -snapshot.size_bytes)
            self._trie.drop_for_snapshot(snapshot.held)
        return snapshot

    def delete(self, user: str, name: str) -> None:
        """Deletes a snapshot and everything that only it needs. Raises SnapshotNotFoundError."""
        snapshot = self.remove(user, name)
        if snapshot is None:
            raise SnapshotNotFoundError(
                f"snapshot {name!r}: not found", hint="each user has own snapshot names: check the name and the user"
            )
        self._images.release(snapshot.image)

    def all(self) -> list[Snapshot]:
        """Every snapshot of every user."""
        return list(self._by_name.values())

    def images(self) -> list[Image]:
        """The images of all snapshots."""
        return [snapshot.image for snapshot in self._by_name.values()]

    def check_integrity(self) -> None:
        """Raises IntegrityError if the usage of a user is counted wrongly."""
        found: dict[str, SnapshotUsage] = {}
        for (user, _), snapshot in self._by_name.items():
            found[user] = found.get(user, SnapshotUsage()).changed(1, snapshot.size_bytes)
        if found != self._usage:
            raise IntegrityError(f"snapshots: {found} are kept, {self._usage} were counted")

    def _of(self, user: str) -> SnapshotUsage:
        return self._usage.get(user, SnapshotUsage())

    def _count(self, user: str, snapshots: int, size_bytes: int) -> None:
        after = self._of(user).changed(snapshots, size_bytes)
        if after.snapshots:
            self._usage[user] = after
        else:
            self._usage.pop(user, None)

    def _image_of(self, context: Context) -> tuple[Image, tuple[PageCopy, ...]]:
        """An image of a resident context, with its working tokens copied, or without their content if there is no
        room."""
        size, tokens = self._page_size, len(context.working)
        needed = pages_for(tokens, size)
        fresh = self._pool.allocate(needed, owner=context.owner) if needed <= self._pool.available() else []
        records = cut_tail(context.working, fresh, size)
        tail = Tail(context.working.copy(), records)
        if fresh:
            tail.segment = self._trie.hang(context.leaf, records.copy())
        states = tuple(context.last_states())
        image = Image(chain_of(context.leaf), tail, context.highest_position, tokens, needed, states=states)
        copies = copies_of(context.block_table[context.committed :], fresh, tokens, size)
        return image, copies

    def _stand(self, image: Image) -> Segment:
        """Holds those pages of `image` that are in the pool."""
        tail = image.tail.segment
        if tail is not None and tail.pages:
            return self._trie.hold_for_snapshot(Place(tail, len(tail.pages)))
        place, _ = self._trie.match(image.records)
        return self._trie.hold_for_snapshot(place)

    def _let_go(self, snapshot: Snapshot) -> None:
        self._trie.drop_for_snapshot(snapshot.held)
        self._images.release(snapshot.image)

    def _check_name(self, name: str) -> None:
        if not 1 <= len(name) <= LONGEST_NAME:
            raise InvalidArgumentError(
                f"snapshot name: {len(name)} characters long", hint=f"use 1 to {LONGEST_NAME} characters"
            )
        if name.startswith(FRESH_PREFIX) and name not in self._fresh_names:
            raise InvalidArgumentError(
                f"snapshot name {name!r}: names that begin with {FRESH_PREFIX} are reserved for snapshot()",
                hint="choose another name",
            )
