"""A command group that imports a verb only when it is used."""

import importlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, cast

import click
from click.shell_completion import CompletionItem


@dataclass(frozen=True, slots=True)
class Verb:
    """The module of a verb, and its line in the help. A verb without a line is not listed."""

    module: str
    summary: str = ""
    attribute: str = "command"


class LazyGroup(click.Group):
    """Shows its verbs in sections, from a table, without importing them.

    `elsewhere` maps verbs of other tools and versions to what to use instead. `help VERB` shows the help of that verb;
    of any other word the verb `help` knows.
    """

    def __init__(
        self,
        *args: Any,
        sections: Mapping[str, Mapping[str, Verb]],
        elsewhere: Mapping[str, str] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        self._sections = sections
        self._verbs = {name: verb for verbs in sections.values() for name, verb in verbs.items()}
        self._elsewhere = elsewhere or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return [name for name, verb in self._verbs.items() if verb.summary]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        verb = self._verbs.get(cmd_name)
        return cast("click.Command", getattr(importlib.import_module(verb.module), verb.attribute)) if verb else None

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        names = [name for name in self.list_commands(ctx) if name.startswith(incomplete)]
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [*(CompletionItem(name, help=self._verbs[name].summary) for name in names), *options]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        for title, verbs in self._sections.items():
            with formatter.section(title):
                formatter.write_dl([(name, verb.summary) for name, verb in verbs.items() if verb.summary])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] == "help":
            if not args[1:]:
                print(ctx.get_help())
                ctx.exit()
            if args[1] in self._verbs:
                args = [*args[1:], "--help"]
        if args[0] not in self._verbs and not args[0].startswith("-"):
            raise click.UsageError(f"'{args[0]}' is not a command{self.suggestion(ctx, args[0])}", ctx)
        return super().resolve_command(ctx, args)

    def suggestion(self, ctx: click.Context, word: str) -> str:
        """What to use for an unknown verb, as the end of a sentence; "" if nothing is like it."""
        if word in self._elsewhere:
            return f": {self._elsewhere[word]}"
        if os.sep in word or os.path.exists(word):
            return f": use 'pie run {word}'"
        close = get_close_matches(word, self.list_commands(ctx), n=1)
        return f", did you mean '{close[0]}'?" if close else ""
