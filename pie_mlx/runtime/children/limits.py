"""How many programs a program may launch."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LaunchLimits:
    """`depth` generations below a launch root, and at most `children` running descendants of it at once."""

    depth: int = 8
    children: int = 64
