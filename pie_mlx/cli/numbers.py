"""Numbers on the command line, called what people call them."""

import click


class Whole(click.IntRange):
    """A whole number between bounds."""

    name = "whole number"


class Number(click.FloatRange):
    """A number between bounds."""

    name = "number"
