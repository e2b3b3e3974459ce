"""What is known of the GPU at a moment."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GpuReading:
    """Between two samples: the share of time in which the GPU was `busy`, and its power in `watts`; and the mean of its
    sensors in `celsius`. None if not readable here; `problem` is why, in one line, empty if nothing is missing."""

    busy: float | None = None
    watts: float | None = None
    celsius: float | None = None
    problem: str = ""


NOT_READ = GpuReading(problem="not told")
NO_GPU = GpuReading(problem="no Apple GPU")
