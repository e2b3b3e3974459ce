"""Numbers on the command line, called what people call them."""

import math
from typing import Any

import click


class Whole(click.IntRange):
    """A whole number between bounds."""

    name = "whole number"


class Number(click.FloatRange):
    """A finite number between bounds, which NaN would lie in."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return number
