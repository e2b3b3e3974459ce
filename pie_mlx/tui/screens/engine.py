"""The screen of what the engine saves: its cache, drafts and steps computed ahead; and of the machine."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from textual.containers import Container
from textual.widget import Widget

from pie_mlx.gpu_meter.gpu_reading import GpuReading
from pie_mlx.tui.model.facts import Machine
from pie_mlx.tui.model.text import count, size
from pie_mlx.tui.model.views.reuse import ReuseWindow, reuse_windows
from pie_mlx.tui.screens.base import MonitorScreen, place_bindings
from pie_mlx.tui.view import View
from pie_mlx.tui.widgets.canvas import Piece
from pie_mlx.tui.widgets.grid import Grid
from pie_mlx.tui.widgets.share_bar import Share, ShareBar

COLUMNS = (("last minutes", 13), ("1", 6), ("5", 6), ("15", 7))
WINDOW = "15 minutes"


def share(part: int, whole: int, tone: str = "") -> Piece:
    """A part in percent; a dot where there is no whole."""
    return Piece(f"{part / whole:.0%}", tone) if whole else Piece("·", "faint")


def _number(number: int, tone: str = "") -> Piece:
    return Piece(count(number), tone) if number else Piece("·", "faint")


def _row(name: str, *cells: Piece) -> list[Piece]:
    return [Piece(name, "muted"), *cells]


def prompt_rows(windows: Sequence[ReuseWindow]) -> list[list[Piece]]:
    """Tokens of prompts, and the share of each way in which they came to have KV."""
    return [
        _row("tokens", *(_number(one.prompt_tokens, "bright") for one in windows)),
        _row("from memory", *(share(one.from_memory, one.prompt_tokens, "good") for one in windows)),
        _row("from disk", *(share(one.from_disk, one.prompt_tokens, "accent") for one in windows)),
        _row("replayed", *(share(one.replayed, one.prompt_tokens, "warn") for one in windows)),
        _row("computed", *(share(one.computed, one.prompt_tokens, "main") for one in windows)),
    ]


def miss_rows(windows: Sequence[ReuseWindow]) -> list[list[Piece]]:
    """Passes by why their pages were not cached, the most frequent reason of the longest window first."""
    longest = windows[-1].misses
    reasons = sorted(longest, key=lambda reason: -longest[reason])
    return [_row(reason, *(_number(one.misses.get(reason, 0)) for one in windows)) for reason in reasons]


def ahead_rows(windows: Sequence[ReuseWindow]) -> list[list[Piece]]:
    """Tokens that were drafted or forced by a grammar, and steps that were computed before they were asked for."""
    return [
        _row("drafted", *(_number(one.drafted) for one in windows)),
        _row("  accepted", *(share(one.accepted, one.drafted, "good") for one in windows)),
        _row("forced", *(_number(one.forced) for one in windows)),
        _row("steps ahead", *(_number(one.kept + one.dropped) for one in windows)),
        _row("  kept", *(share(one.kept, one.kept + one.dropped, "good") for one in windows)),
    ]


def _origins(whole: ReuseWindow) -> list[Share]:
    return [
        Share("from memory", whole.from_memory, "good"),
        Share("from disk", whole.from_disk, "accent"),
        Share("replayed", whole.replayed, "warn"),
        Share("computed", whole.computed, "main"),
    ]


def machine_rows(machine: Machine | None) -> list[list[Piece]]:
    """Memory by use, and the processors. What the system does not report is a dot."""
    if machine is None:
        return [_row("unknown", Piece("not told", "faint"))]
    used = machine.memory_bytes - machine.available_bytes
    others = max(0, used - machine.engine_bytes - machine.programs_bytes)
    tone = {"warning": "warn", "critical": "bad"}.get(machine.pressure, "good")
    return [
        _row("memory", _of(used, machine.memory_bytes)),
        _row("pressure", Piece(machine.pressure or "·", tone if machine.pressure else "faint")),
        _row("swap", _of(machine.swap_used_bytes, machine.swap_bytes)),
        _row("load", Piece(f"{machine.load:.1f} of {machine.processors}")),
        _row("GPU", gpu(machine.gpu)),
        _row("weights", _size(machine.weights_bytes)),
        _row("page pool", _size(machine.pool_bytes)),
        _row("other arrays", _size(machine.other_bytes)),
        _row("whole engine", _size(machine.engine_bytes)),
        _row("its programs", _size(machine.programs_bytes)),
        _row("all others", _size(others)),
    ]


def gpu(reading: GpuReading) -> Piece:
    """Its share of busy time, power and temperature; a dot for what cannot be read."""
    figures = [
        "·" if reading.busy is None else f"{reading.busy:.0%}",
        "·" if reading.watts is None else f"{reading.watts:.1f} W",
        "·" if reading.celsius is None else f"{reading.celsius:.0f} °C",
    ]
    return Piece("·", "faint") if set(figures) == {"·"} else Piece("  ".join(figures))


def gpu_problem(machine: Machine | None) -> str:
    """Why figures of the GPU are missing; empty if none are."""
    problem = machine.gpu.problem if machine is not None else ""
    return f"GPU not readable here: {problem}" if problem else ""


def _size(number: int) -> Piece:
    return Piece(size(number)) if number else Piece("·", "faint")


def _of(used: int, whole: int) -> Piece:
    return Piece(f"{size(used)} of {size(whole)}") if whole else Piece("·", "faint")


class EngineScreen(MonitorScreen):
    NAME = "engine"
    BINDINGS: ClassVar = place_bindings("engine")

    def __init__(self) -> None:
        super().__init__()
        self.origins = ShareBar(f"Tokens of prompts, {WINDOW}", id="origins")
        self.prompts = Grid("Prompts", COLUMNS, id="prompts")
        self.misses = Grid("Not cached, because", COLUMNS, id="misses")
        self.machine = Grid("Machine", (("", 13), ("now", 21)), id="machine")
        self.ahead = Grid("Drafts, and steps ahead", COLUMNS, id="ahead")

    def body(self) -> Iterator[Widget]:
        yield self.origins
        left = Container(self.prompts, self.misses, id="left")
        yield Container(left, Container(self.ahead, self.machine, id="right"), id="panels")

    def show_body(self, view: View) -> None:
        windows = reuse_windows(view.state)
        whole = windows[-1]
        self.origins.show(_origins(whole) if whole.prompt_tokens else [])
        self.prompts.show(prompt_rows(windows))
        self.misses.show(miss_rows(windows) or [_row("nothing", *[Piece("·", "faint")] * len(windows))])
        self.ahead.show(ahead_rows(windows))
        self.machine.show(machine_rows(view.facts.machine), gpu_problem(view.facts.machine))
