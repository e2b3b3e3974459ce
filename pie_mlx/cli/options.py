"""Options that every verb takes, before or after its name, and the types of numbers."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from pie_mlx.client import Address

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


class Whole(click.IntRange):
    """A whole number between bounds."""

    name = "whole number"


class Number(click.FloatRange):
    """A finite number between bounds. Click's own type accepts NaN."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return number


@dataclass(slots=True)
class Common:
    """The values of the common options, passed along as click's context object."""

    json: bool = False
    quiet: bool = False
    debug: bool = False
    no_color: bool = False
    config: Path | None = None
    url: str | None = None
    address: "Address | None" = None
    """Set by verbs with options of their own for the engine's address."""


def common_options(command: Decorated) -> Decorated:
    """Add the options to a command; their values are found in its context's `Common`."""
    options = [
        _option("--json", is_flag=True, help="Print JSON."),
        _option("-q", "--quiet", is_flag=True, help="Print the result only."),
        _option("-c", "--config", type=click.Path(path_type=Path), metavar="PATH", help="Use this config.toml."),
        _option("--url", metavar="URL", help="Use the engine at this address."),
        _option("--debug", is_flag=True, help="Print tracebacks and a log to standard error."),
        _option("--no-color", is_flag=True, envvar="NO_COLOR", help="Print without colours."),
        click.help_option("-h", "--help", help="Show this help."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def _option(*names: str, **settings: Any) -> Callable[[Decorated], Decorated]:
    return click.option(*names, expose_value=False, callback=_remember, **settings)


def _remember(ctx: click.Context, option: click.Parameter, value: Any) -> None:
    if value and option.name:
        setattr(ctx.ensure_object(Common), option.name, value)
