"""The README's picture of the monitor: `python -m tools.monitor.picture`.

Terminals draw braille and blocks by themselves; browsers leave them to whatever font there is. Here they become shapes,
so that the picture looks the same everywhere.
"""

import asyncio
import re
from html import unescape
from pathlib import Path

from pie_mlx.tui.app import MonitorApp
from pie_mlx.tui.controller import ReadOnlyController
from pie_mlx.tui.source.recording import open_recording

ROOT = Path(__file__).parents[2]
RECORDING = ROOT / "tests" / "tui" / "recordings" / "contention.events"
PICTURE = ROOT / "docs" / "images" / "monitor.svg"
SIZE = (132, 40)
PLACE = 0.6
"""Of the recording: where the pool is full and programs wait."""

CELL_WIDTH, CELL_HEIGHT = 12.2, 24.4
FONTS = "Fira Code, Menlo, Consolas, DejaVu Sans Mono, monospace"
_TEXT = re.compile(r'<text class="([^"]+)" x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)</text>')
_DOTS = ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3))


def portable(svg: str) -> str:
    """The picture without fonts of the web, its braille and blocks drawn."""
    svg = re.sub(r"@font-face\s*{[^}]*}", "", svg)
    svg = svg.replace("font-family: Fira Code, monospace", f"font-family: {FONTS}").replace("Fira Code;", f"{FONTS};")
    return _TEXT.sub(_drawn, svg)


def _drawn(match: re.Match[str]) -> str:
    text = unescape(match[4])
    if not any(_is_drawn(letter) for letter in text):
        return match[0]
    left, base = float(match[2]), float(match[3])
    shapes = "".join(_shape(letter, left + CELL_WIDTH * n, base - 18.5) for n, letter in enumerate(text))
    rest = "".join("\u00a0" if _is_drawn(letter) else letter for letter in text)
    kept = match[0].replace(match[4], rest) if rest.strip("\u00a0 ") else ""
    return f'{kept}<path class="{match[1]}" d="{shapes}"/>' if shapes else kept


def _is_drawn(letter: str) -> bool:
    return 0x2800 <= ord(letter) < 0x2900 or 0x2581 <= ord(letter) <= 0x2588


def _shape(letter: str, x: float, y: float) -> str:
    """A path of one character."""
    code = ord(letter)
    if 0x2581 <= code <= 0x2588:
        height = CELL_HEIGHT * (code - 0x2580) / 8
        return f"M{x:.1f} {y + CELL_HEIGHT - height:.1f}h{CELL_WIDTH + 0.2:.1f}v{height:.1f}h-{CELL_WIDTH + 0.2:.1f}z"
    if not 0x2800 <= code < 0x2900:
        return ""
    dots = [place for bit, place in enumerate(_DOTS) if (code - 0x2800) >> bit & 1]
    width, height = CELL_WIDTH / 2, CELL_HEIGHT / 4
    return "".join(f"M{x + 1 + a * width:.1f} {y + 1.2 + b * height:.1f}h4v4h-4z" for a, b in dots)


async def picture(recording: Path, size: tuple[int, int], keys: tuple[str, ...] = (), place: float = PLACE) -> str:
    """The screen after some keys, at a place of a recording, as SVG."""
    source = open_recording(recording)
    source.playback.seek_to(place)
    source.playback.playing = False
    app = MonitorApp(source, ReadOnlyController("a recording cannot be steered"))
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        source.play(app.inbox, 0.0)
        await pilot.press(*keys)
        app.refresh_now()
        await pilot.pause()
        return portable(app.export_screenshot(title="pie top"))


def main() -> None:
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(asyncio.run(picture(RECORDING, SIZE)), encoding="utf-8")
    print(f"{PICTURE.relative_to(ROOT)}: {PICTURE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
