"""Drafts after the last input of a pass, and which of them the pass proves right (V2, V3)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from pie_mlx.errors import SpeculationError

LAST_INPUT = -1
"""The parent of drafts that follow the last input."""


@dataclass(frozen=True, slots=True)
class DraftTree:
    """`tokens`, each of which follows the earlier draft `parents` names, or the last input."""

    tokens: Sequence[int]
    parents: Sequence[int]

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def is_chain(self) -> bool:
        """Whether every draft follows the one before it, so that each sees everything before it."""
        return self.trunk == len(self)

    @property
    def trunk(self) -> int:
        """How many of the first drafts follow one another."""
        return next((place for place, parent in enumerate(self.parents) if parent != place - 1), len(self))

    def first(self, count: int) -> "DraftTree":
        """The first `count` drafts: none of them follows a later one."""
        return DraftTree(self.tokens[:count], self.parents[:count])

    def chosen(self, places: Sequence[int]) -> "DraftTree":
        """The drafts at `places`, which hold the parents of all of them."""
        moved = {LAST_INPUT: LAST_INPUT} | {place: number for number, place in enumerate(places)}
        return DraftTree([self.tokens[place] for place in places], [moved[self.parents[place]] for place in places])

    def path(self, place: int) -> list[int]:
        """The drafts from the last input to the one at `place`, which is included."""
        found: list[int] = []
        while place != LAST_INPUT:
            found.append(place)
            place = self.parents[place]
        return found[::-1]

    def up_to_depth(self, most: int) -> "DraftTree":
        """The drafts of which no more than `most` follow one another."""
        return self.chosen([place for place, depth in enumerate(self.depths()) if depth <= most])

    def depths(self) -> list[int]:
        """How many tokens each draft is after the last input."""
        depths: list[int] = []
        for parent in self.parents:
            depths.append(1 if parent == LAST_INPUT else depths[parent] + 1)
        return depths

    def visible(self, place: int, slot: int) -> list[int]:
        """What the draft at `place` sees, as run lengths: the slots before `slot`, the first draft's, and its path."""
        runs, end = [0, slot], slot
        for own in self.path(place):
            if slot + own == end:
                runs[-1] += 1
            else:
                runs += [slot + own - end, 1]
            end = slot + own + 1
        return runs

    def verified(self, drawn: Sequence[int]) -> list[int]:
        """The path that was drawn: `drawn[0]` at the last input, `drawn[k + 1]` at draft k."""
        path: list[int] = []
        here = LAST_INPUT
        for place, (token, parent) in enumerate(zip(self.tokens, self.parents, strict=True)):
            if parent == here and token == drawn[here + 1]:
                path.append(place)
                here = place
        return path


def chain(tokens: Sequence[int]) -> DraftTree:
    """Drafts that follow one another."""
    return DraftTree(tokens, range(LAST_INPUT, len(tokens) - 1))


def checked_tree(tokens: Sequence[int], parents: Sequence[int] | None, vocabulary_size: int) -> DraftTree:
    """Raises SpeculationError for ids outside the vocabulary and for parents that are no earlier drafts."""
    for token in tokens:
        if not 0 <= token < vocabulary_size:
            raise SpeculationError(
                f"draft {token}: outside the vocabulary of {vocabulary_size}", hint="draft ids the tokenizer gave"
            )
    if parents is None:
        return chain(tokens)
    if len(parents) != len(tokens):
        raise SpeculationError(
            f"drafts: {len(tokens)} tokens and {len(parents)} parents", hint="name one parent for each draft"
        )
    for place, parent in enumerate(parents):
        if not LAST_INPUT <= parent < place:
            raise SpeculationError(
                f"drafts: draft {place} follows {parent}", hint="name an earlier draft, or -1 for the last input"
            )
    return DraftTree(tokens, parents)


@dataclass(frozen=True, slots=True)
class Verification:
    """`tokens` were drawn one after the other, the drafts of `path` accepted. The first `kept` drafts stay in KV."""

    tokens: list[int]
    path: list[int]
    kept: int

    @property
    def accepted(self) -> int:
        """How many drafts were right."""
        return len(self.path)


@dataclass(slots=True, eq=False)
class Window:
    """The drafts of one pass, for which it waited `waited_seconds`. `extra_pages` were reserved for them alone;
    `verification` is set at its end."""

    tree: DraftTree
    stop_tokens: Collection[int]
    waited_seconds: float = 0.0
    extra_pages: int = 0
    verification: Verification | None = None

    def judge(self, drawn: Sequence[int], *, wanted: bool) -> int:
        """Compare the drafts with what was drawn; how many of the last inputs leave KV.

        `drawn[0]` at the last input, `drawn[k + 1]` at draft k. Nothing is accepted when it is not `wanted` any more.
        Only drafts that lie where plain decoding would have put them stay: those of the first branch.
        """
        path = self.tree.verified(drawn) if wanted else []
        tokens = [drawn[0], *(drawn[place + 1] for place in path)]
        kept = 0
        while kept < len(path) and path[kept] == kept and tokens[kept] not in self.stop_tokens:
            kept += 1
        self.verification = Verification(tokens, path, kept)
        return len(self.tree) - kept
