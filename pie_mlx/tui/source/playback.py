"""The position and speed at which a recording plays."""

from dataclasses import dataclass

SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)


@dataclass(slots=True)
class Playback:
    """`position_seconds` runs from 0 to `length_seconds`. Keys and the playing source change it."""

    length_seconds: float
    position_seconds: float = 0.0
    speed: float = 1.0
    playing: bool = True
    steps: int = 0

    @property
    def fraction(self) -> float:
        """The played part, from 0 to 1."""
        return self.position_seconds / self.length_seconds if self.length_seconds else 1.0

    def toggle(self) -> None:
        """Play or pause; at the end, play from the start."""
        if not self.playing and self.position_seconds >= self.length_seconds:
            self.position_seconds = 0.0
        self.playing = not self.playing

    def pass_time(self, seconds: float) -> None:
        """Advance by `seconds` of real time at the present speed; stop at the end."""
        if self.playing:
            self.seek(seconds * self.speed)
            self.playing = self.position_seconds < self.length_seconds

    def seek(self, seconds: float) -> None:
        """Move by `seconds` of the recording's time."""
        self.position_seconds = min(self.length_seconds, max(0.0, self.position_seconds + seconds))

    def seek_to(self, fraction: float) -> None:
        """Move to a place between 0 and 1."""
        self.position_seconds = self.length_seconds * min(1.0, max(0.0, fraction))

    def step(self, ticks: int) -> None:
        """Request a move by whole ticks of the engine, and pause."""
        self.playing = False
        self.steps += ticks

    def change_speed(self, by: int) -> None:
        """Change to a faster or slower speed."""
        place = min(len(SPEEDS) - 1, max(0, SPEEDS.index(self.speed) + by))
        self.speed = SPEEDS[place]
