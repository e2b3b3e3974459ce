"""Text of programs, made safe to show, and numbers in readable units."""

import time
import unicodedata

UNIX_SECONDS = 1e9
"""Times of streams above it are Unix time; recordings have clocks that began at a start."""


def clean(text: str) -> str:
    """The text without control and direction characters; tabs become spaces, newlines stay."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    kept = (letter for letter in text.replace("\t", "    ") if letter == "\n" or _is_visible(letter))
    return "".join(kept)


def one_line(text: str, limit: int = 300) -> str:
    """The text on one line, cleaned and cut."""
    return clean(" ".join(text[: 2 * limit].split()))[:limit]


def shortened(text: str, limit: int) -> str:
    """The text, cut to `limit` characters from both ends, with the number of characters left out."""
    if len(text) <= limit:
        return text
    head, tail = text[: limit - limit // 2], text[-(limit // 2) :]
    return f"{head}… ({len(text) - limit:,} characters left out) …{tail}"


def count(number: float) -> str:
    """`950`, `12.3k`, `4.56M`: at most five characters."""
    for least, size, unit in ((999.5e6, 1e9, "G"), (999.5e3, 1e6, "M"), (1e4, 1e3, "k")):
        if abs(number) >= least:
            return f"{number / size:.3g}{unit}"
    return f"{number:.0f}"


def rate(number: float) -> str:
    """Per second: `0`, `3.4`, `120`."""
    if not number:
        return "0"
    return f"{number:.1f}" if number < 10 else count(number)


def credits(number: float) -> str:
    """Three significant digits: `0`, `<.0001`, `0.0051`, `1.25`, `63.4`, `1203`."""
    if not number:
        return "0"
    if abs(number) < 0.0001:
        return "<.0001"
    if abs(number) < 0.1:
        return f"{number:.4f}"
    return f"{number:.2f}" if abs(number) < 10 else f"{number:.1f}" if abs(number) < 1000 else f"{number:.0f}"


def duration(seconds: float) -> str:
    """`640 us`, `12.3 ms`, `1.25 s`."""
    if seconds <= 0:
        return "0 ms"
    if seconds < 0.001:
        return f"{seconds * 1e6:.0f} us"
    return f"{seconds * 1e3:.3g} ms" if seconds < 0.9995 else f"{seconds:.3g} s"


def age(seconds: float) -> str:
    """`4s`, `3:07`, `2h05`, `6d03`: at most five characters up to 99 days."""
    whole = int(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02d}"
    if whole < 86400:
        return f"{whole // 3600}h{whole % 3600 // 60:02d}"
    return f"{whole // 86400}d{whole % 86400 // 3600:02d}"


def clock(seconds: float) -> str:
    """A place in a recording, `01:23.4`."""
    minutes, rest = divmod(max(0.0, seconds), 60)
    return f"{int(minutes):02d}:{rest:04.1f}"


def moment(seconds: float, started_seconds: float) -> str:
    """The local time, `07:23:11`, of a stream whose times are Unix time; a place in a recording for others."""
    if seconds < UNIX_SECONDS:
        return clock(seconds - started_seconds)
    return time.strftime("%H:%M:%S", time.localtime(seconds))


def _is_visible(letter: str) -> bool:
    return unicodedata.category(letter) not in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def size(number: int) -> str:
    """`512 MiB`, `12.3 GiB`."""
    return f"{number / (1 << 30):.1f} GiB" if number >= 1 << 30 else f"{number >> 20} MiB"
