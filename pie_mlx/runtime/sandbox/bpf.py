"""Assembles the packet-filter programs with which seccomp decides about system calls."""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

KILL, ALLOW = 0x80000000, 0x7FFF0000
_ERRNO = 0x00050000
_LOAD, _AND, _JUMP, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x54, 0x05, 0x15, 0x35, 0x06
_NUMBER_PLACE, _ARCHITECTURE_PLACE, _ARGUMENTS_PLACE = 0, 4, 16
_FARTHEST = 255
"""The farthest jump of a condition, in instructions."""
_ALL_BITS = 0xFFFFFFFF

Step = bytes


@dataclass(frozen=True, slots=True)
class Check:
    """The argument at `place` has one of `values`, apart from `ignored` bits.

    Compares the lower 32 bits; the kernel uses no more of these arguments.
    """

    place: int
    values: tuple[int, ...]
    ignored: int = 0


Rule = tuple[Check, ...]
"""A call is allowed if all checks hold."""
Verdict = int | tuple[Rule, ...]
"""The filter's answer; or rules, one of which must hold for the call to be allowed."""


def refusal(error: int) -> int:
    """The answer to a call that fails with `error`."""
    return _ERRNO | error


def only_on(architecture: int) -> list[Step]:
    """Kill a process that makes calls of another architecture, where numbers differ. Loads the number."""
    return [
        _step(_LOAD, _ARCHITECTURE_PLACE),
        _step(_EQUAL, architecture, 1, 0),
        _step(_RETURN, KILL),
        _step(_LOAD, _NUMBER_PLACE),
    ]


def one_call(number: int, verdict: Verdict, otherwise: int) -> list[Step]:
    """Decide about one call; the program continues for others."""
    steps = _leaf(verdict, otherwise)
    return [_step(_EQUAL, number, 0, len(steps)), *steps]


def all_calls(verdicts: Mapping[int, Verdict], otherwise: int) -> list[Step]:
    """Decide about every call by binary search; `otherwise` applies to those without a verdict."""
    ranges: list[tuple[int, Verdict]] = [(0, otherwise)]
    for number in sorted(verdicts):
        for start, verdict in ((number, verdicts[number]), (number + 1, otherwise)):
            if ranges[-1][0] == start:
                ranges.pop()
            if not ranges or ranges[-1][1] != verdict:
                ranges.append((start, verdict))
    return _search(ranges, otherwise)


def _search(ranges: Sequence[tuple[int, Verdict]], otherwise: int) -> list[Step]:
    """Each range ends where the next starts."""
    if len(ranges) == 1:
        return _leaf(ranges[0][1], otherwise)
    middle = len(ranges) // 2
    below, above = _search(ranges[:middle], otherwise), _search(ranges[middle:], otherwise)
    start = ranges[middle][0]
    if len(below) <= _FARTHEST:
        return [_step(_AT_LEAST, start, len(below), 0), *below, *above]
    return [_step(_AT_LEAST, start, 0, 1), _step(_JUMP, len(below)), *below, *above]


def _leaf(verdict: Verdict, otherwise: int) -> list[Step]:
    if isinstance(verdict, int):
        return [_step(_RETURN, verdict)]
    return [step for rule in verdict for step in _allowed_by(rule)] + [_step(_RETURN, otherwise)]


def _allowed_by(rule: Rule) -> list[Step]:
    """Allow a call if the rule holds; otherwise the program continues."""
    steps = [_step(_RETURN, ALLOW)]
    for check in reversed(rule):
        compared = [_step(_EQUAL, value, len(check.values) - at, 0) for at, value in enumerate(check.values)]
        masked = [_step(_AND, _ALL_BITS & ~check.ignored)] if check.ignored else []
        loaded = _step(_LOAD, _ARGUMENTS_PLACE + 8 * check.place)
        steps = [loaded, *masked, *compared, _step(_JUMP, len(steps)), *steps]
    return steps


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> Step:
    return struct.pack("<HBBI", code, if_true, if_false, value)
