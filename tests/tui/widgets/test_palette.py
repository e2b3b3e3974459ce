"""Colours of every theme that is offered."""

import pytest
from rich.color import Color
from textual.theme import BUILTIN_THEMES

from pie_mlx.tui.widgets.palette import (
    LEAST_CONTRAST,
    OWNERS,
    STATUS_TONES,
    THEMES,
    Palette,
    contrast,
    owner_tone,
    theme_names,
)

OFFERED = {theme.name: theme for theme in THEMES} | BUILTIN_THEMES
TONES = {"", "bright", "muted", "faint", "main", "main!", "accent", "good", "warn", "bad", "main~40", "good~70"}
ALL_TONES = sorted(TONES | {owner_tone(number) for number in range(OWNERS)} | set(STATUS_TONES.values()))


def hexadecimal(colour: Color) -> str:
    return colour.get_truecolor().hex


@pytest.mark.parametrize("name", theme_names())
def test_text_on_the_selected_row_can_be_read_in_every_theme(name):
    palette = Palette(OFFERED[name])
    styles = [palette.style(f"{tone}^") for tone in ALL_TONES] + [palette.style("cursor")]
    pairs = {(hexadecimal(style.color), hexadecimal(style.bgcolor)) for style in styles}
    assert [pair for pair in pairs if contrast(*pair) < LEAST_CONTRAST] == []


def test_contrast_is_that_of_the_guidelines():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


def test_a_colour_that_can_be_read_stays_as_it_is():
    palette = Palette(OFFERED["pie-dark"])
    assert palette.style("good^").color.name == palette.style("good").color.name
    assert palette.style("faint^").color.name != palette.style("faint").color.name
