"""The source of drafts for a Generator: none, the engine, or the program."""

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Protocol, get_args

from inferlet._calls.checks import integers, token_list
from inferlet.spec import Speculator
from pie_mlx.calls import DraftSourceName, Speculation
from pie_mlx.errors import InvalidArgumentError, InvalidTypeError, PieError, SpeculationError

NO_LIMIT = 1 << 20
"""Stands for no limit of drafts, or of tokens in a step: more than there can be."""


class Drafting(Protocol):
    """A Generator's source of drafts, informed of produced tokens; `needs_program` if every step needs it."""

    needs_program: bool

    def attach(self) -> None:
        """Called when the prompt is in the buffer. Raises SpeculationError."""
        ...

    def check(self) -> None:
        """Raises SpeculationError for a failure since the last draft."""
        ...

    def draft(self, position: int, limit: int, stop_tokens: Iterable[int]) -> Speculation | None:
        """At most `limit` drafts from `position` on, None for a plain step. Raises SpeculationError."""
        ...

    def record_produced(self, tokens: Sequence[int]) -> None:
        """Report the produced tokens; the first was not a draft."""
        ...


class NoDrafting:
    """Every step is plain."""

    needs_program = False

    def attach(self) -> None:
        return

    def check(self) -> None:
        return

    def draft(self, position: int, limit: int, stop_tokens: Iterable[int]) -> Speculation | None:
        return None

    def record_produced(self, tokens: Sequence[int]) -> None:
        return


class SystemDrafting:
    """The engine drafts."""

    needs_program = False

    def __init__(self, source: DraftSourceName = "auto") -> None:
        if source not in get_args(DraftSourceName):
            raise InvalidArgumentError(
                f"speculation: {source!r} is none of {', '.join(get_args(DraftSourceName))}",
                hint="leave it at auto",
                argument="speculation",
            )
        self._source: DraftSourceName = source

    def attach(self) -> None:
        return

    def check(self) -> None:
        return

    def draft(self, position: int, limit: int, stop_tokens: Iterable[int]) -> Speculation | None:
        return Speculation(limit, stop_tokens=list(stop_tokens), source=self._source)

    def record_produced(self, tokens: Sequence[int]) -> None:
        return


class ProgramDrafting:
    """A Speculator drafts. When it fails after a pass, `check` raises before the next one, so the pass is not lost."""

    needs_program = True

    def __init__(self, speculator: Speculator, vocabulary_size: int) -> None:
        if isinstance(speculator, type) or not isinstance(speculator, Speculator):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidTypeError(
                f"speculator: {type(speculator).__name__} is not a Speculator",
                hint="pass an object with draft(), accept(tokens), rollback(n) and reset()",
            )
        self._speculator, self._vocabulary_size = speculator, vocabulary_size
        self._drafted = 0
        self._failure: SpeculationError | None = None

    def attach(self) -> None:
        with _named("reset"):
            self._speculator.reset()

    def check(self) -> None:
        if self._failure is not None:
            raise self._failure.with_traceback(None)

    def draft(self, position: int, limit: int, stop_tokens: Iterable[int]) -> Speculation | None:
        self._drafted = 0
        with _named("draft"):
            drafts = self._speculator.draft()
        tokens, parents = _checked(drafts, position, self._vocabulary_size)
        self._drafted = len(tokens)
        return Speculation(limit, tokens, parents, list(stop_tokens)) if tokens else None

    def record_produced(self, tokens: Sequence[int]) -> None:
        wrong, self._drafted = self._drafted - len(tokens) + 1, 0
        try:
            with _named("accept"):
                self._speculator.accept(list(tokens))
            if wrong > 0:
                with _named("rollback"):
                    self._speculator.rollback(wrong)
        except SpeculationError as error:
            self._failure = error


@contextmanager
def _named(method: str) -> Generator[None, None, None]:
    """Any exception of the program's own code becomes a SpeculationError (V5)."""
    try:
        yield
    except Exception as error:
        raise SpeculationError(
            f"speculator: {method} raised {type(error).__name__}: {error}", hint="correct the speculator"
        ) from error


def _checked(drafts: object, position: int, vocabulary_size: int) -> tuple[list[int], list[int] | None]:
    """The tokens and parents of a speculator's drafts (V5)."""
    if not isinstance(drafts, tuple | list) or len(drafts) not in (2, 3):  # pyright: ignore[reportUnknownArgumentType]
        raise SpeculationError(
            "speculator: draft() gave no pair of lists",
            hint="return (tokens, positions) or (tokens, positions, parents)",
        )
    tokens, positions, *rest = drafts  # pyright: ignore[reportUnknownVariableType]
    try:
        found = token_list(tokens, vocabulary_size)  # pyright: ignore[reportUnknownArgumentType]
        places = integers(positions, "positions")  # pyright: ignore[reportUnknownArgumentType]
        parents = integers(rest[0], "parents") if rest else None  # pyright: ignore[reportUnknownArgumentType]
    except PieError as error:
        raise SpeculationError(f"speculator: {error.message}", hint=error.hint) from error
    if places != _expected(found, position, parents):
        raise SpeculationError(
            f"speculator: {len(found)} drafts at positions {places[:8]}, the next position is {position}",
            hint="give one position for each draft: the next one after the token it follows",
        )
    return found, parents


def _expected(tokens: list[int], position: int, parents: list[int] | None) -> list[int]:
    """The positions drafts must have. Raises SpeculationError for parents that are not earlier drafts."""
    if parents is None:
        return list(range(position, position + len(tokens)))
    if len(parents) != len(tokens) or any(not -1 <= parent < place for place, parent in enumerate(parents)):
        raise SpeculationError(
            f"speculator: {len(tokens)} drafts follow {parents[:8]}", hint="name an earlier draft for each, or -1"
        )
    places: list[int] = []
    for parent in parents:
        places.append(position if parent < 0 else places[parent] + 1)
    return places
