"""A command group that imports a verb only when it is used."""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, cast

import click


@dataclass(frozen=True, slots=True)
class Verb:
    """Where a verb lives (`module`, attribute `command`) and its line in the help."""

    module: str
    summary: str


class LazyGroup(click.Group):
    """Shows its verbs in sections, from a table, without importing them."""

    def __init__(self, *args: Any, sections: Mapping[str, Mapping[str, Verb]], **options: Any) -> None:
        super().__init__(*args, **options)
        self._sections = sections

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return [name for verbs in self._sections.values() for name in verbs]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        found = [verbs[cmd_name] for verbs in self._sections.values() if cmd_name in verbs]
        return cast("click.Command", importlib.import_module(found[0].module).command) if found else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        for title, verbs in self._sections.items():
            with formatter.section(title):
                formatter.write_dl([(name, verb.summary) for name, verb in verbs.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        known = self.list_commands(ctx)
        if args[0] not in known and not args[0].startswith("-"):
            close = get_close_matches(args[0], known, n=1)
            suggestion = f", did you mean '{close[0]}'?" if close else ""
            raise click.UsageError(f"'{args[0]}' is no command{suggestion}", ctx)
        return super().resolve_command(ctx, args)
