"""Colours by role. Widgets name tones; the theme defines the look of a tone."""

from rich.style import Style
from textual.color import Color
from textual.theme import BUILTIN_THEMES, Theme

OWNERS = 8
"""Colours that distinguish accounts: `owner0` to `owner7`."""

_DARK_OWNERS = ("#7aa2f7", "#9ece6a", "#e0af68", "#bb9af7", "#4fd6be", "#f7768e", "#ff9e64", "#7dcfff")
_LIGHT_OWNERS = ("#2e5aa8", "#4d7a2a", "#96690f", "#7847bd", "#0f766e", "#c0365a", "#b15c00", "#0b6fa4")
_ANSI_OWNERS = ("blue", "green", "yellow", "magenta", "cyan", "red", "bright_blue", "bright_magenta")

DARK = Theme(
    name="pie-dark",
    primary="#7aa2f7",
    secondary="#7dcfff",
    accent="#bb9af7",
    success="#9ece6a",
    warning="#e0af68",
    error="#f7768e",
    foreground="#c8d0e0",
    background="#10131a",
    surface="#10131a",
    panel="#1a1f2b",
    dark=True,
    variables={"block-cursor-background": "#283350", "block-cursor-foreground": "#e6ebf5"},
)
LIGHT = Theme(
    name="pie-light",
    primary="#2e5aa8",
    secondary="#0b6fa4",
    accent="#7847bd",
    success="#4d7a2a",
    warning="#96690f",
    error="#c0365a",
    foreground="#2c3340",
    background="#f7f8fa",
    surface="#f7f8fa",
    panel="#e8ebf0",
    dark=False,
    variables={"block-cursor-background": "#d3dcf0", "block-cursor-foreground": "#10131a"},
)
THEMES = (DARK, LIGHT)
CYCLE = ("pie-dark", "pie-light", "ansi-dark", "ansi-light", "nord", "gruvbox", "catppuccin-mocha", "tokyo-night")

LEAST_CONTRAST = 4.5
"""Of text on the selected row."""


def theme_names() -> list[str]:
    """The names of our themes and of Textual's."""
    return [*(theme.name for theme in THEMES), *BUILTIN_THEMES]


STATUS_TONES = {
    "running": "good",
    "restoring": "main",
    "waiting": "warn",
    "suspended": "accent",
    "idle": "muted",
    "returned": "muted",
    "failed": "bad",
    "killed": "muted",
}


def owner_tone(account: int) -> str:
    """The colour of an account, the same on every screen."""
    return f"owner{account % OWNERS}"


class Palette:
    """Styles of tones in one theme.

    `tone~40` is a tone at 40 % of its strength, `tone!` is bold, `tone_` is underlined, and `tone^` is for the selected
    line.
    """

    def __init__(self, theme: Theme) -> None:
        self._ansi = theme.ansi
        self._colours = _ansi_colours(theme) if theme.ansi else _colours(theme)
        self._known: dict[str, Style] = {}

    def style(self, tone: str) -> Style:
        """The style of a tone; that of plain text for an unknown one."""
        found = self._known.get(tone)
        if found is None:
            found = self._known[tone] = self._made(tone)
        return found

    def _made(self, tone: str) -> Style:
        cursor = Style(color=self._colours["cursor"], bgcolor=self._colours["cursor-back"])
        if tone.endswith("^"):
            own = cursor + self.style(tone[:-1])
            if self._ansi or own.color is None:
                return cursor
            return own + Style(color=legible(own.color.name, self._colours["cursor-back"]))
        if tone.endswith("_"):
            return self.style(tone[:-1]) + Style(underline=True)
        name, _, strength = tone.removesuffix("!").partition("~")
        if name == "cursor":
            return cursor
        colour = self._colours.get(name)
        if colour is None:
            return Style(bold=tone.endswith("!") or None)
        if strength and not self._ansi:
            colour = _mixed(self._colours["back"], colour, int(strength) / 100)
        dim = self._ansi and bool(strength) and int(strength) < 50
        return Style(color=colour, bold=tone.endswith("!") or None, dim=dim or None)


def legible(colour: str, back: str) -> str:
    """The colour, as far towards black or white as text of it needs to be read on `back`."""
    end = max("#000000", "#ffffff", key=lambda each: contrast(each, back))
    steps = (_mixed(colour, end, part / 10) for part in range(11))
    return next((step for step in steps if contrast(step, back) >= LEAST_CONTRAST), end)


def contrast(colour: str, back: str) -> float:
    """From 1 to 21, as the guidelines for accessible content define it."""
    light, dark = sorted((_luminance(colour), _luminance(back)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = [part / 255 for part in Color.parse(colour).rgb]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _colours(theme: Theme) -> dict[str, str]:
    variables = theme.to_color_system().generate()
    back, fore = variables["background"], variables["foreground"]
    cursor_back = theme.variables.get("block-cursor-background", variables["primary"])
    owners = _DARK_OWNERS if theme.dark else _LIGHT_OWNERS
    return {
        "back": back,
        "fore": fore,
        "bright": _mixed(fore, "#ffffff" if theme.dark else "#000000", 0.5),
        "muted": _mixed(back, fore, 0.58),
        "faint": _mixed(back, fore, 0.26),
        "main": variables["primary"],
        "accent": variables["accent"],
        "good": variables["success"],
        "warn": variables["warning"],
        "bad": variables["error"],
        "cursor": legible(theme.variables.get("block-cursor-foreground", back), cursor_back),
        "cursor-back": cursor_back,
        **{f"owner{number}": colour for number, colour in enumerate(owners)},
    }


def _ansi_colours(theme: Theme) -> dict[str, str]:
    return {
        "back": "default",
        "fore": "default",
        "bright": "default",
        "muted": "bright_black",
        "faint": "bright_black",
        "main": "blue",
        "accent": "magenta",
        "good": "green",
        "warn": "yellow",
        "bad": "red",
        "cursor": "black" if theme.dark else "white",
        "cursor-back": "white" if theme.dark else "black",
        **{f"owner{number}": colour for number, colour in enumerate(_ANSI_OWNERS)},
    }


def _mixed(back: str, fore: str, strength: float) -> str:
    mixed = Color.parse(back).blend(Color.parse(fore), strength)
    return f"#{mixed.r:02x}{mixed.g:02x}{mixed.b:02x}"
