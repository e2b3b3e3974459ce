"""The reference pages, written from the code: `python -m tools.docs`."""

import inspect
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import click

from pie_mlx.cli.main import SECTIONS, pie
from pie_mlx.config.schema import KEYS, Key
from pie_mlx.config.values import rule
from pie_mlx.engine.model.networks.tiers import REFUSED, verified
from tools.sdk_reference import blocking_lines, sdk_lines

FOLDER = Path(__file__).parent.parent / "docs" / "reference"
_GENERATED = "<!-- Written by `python -m tools.docs`. Change the code, then run it. -->"


def pages() -> dict[str, str]:
    """Every page by the name of its file."""
    return {
        "cli.md": _page("Command line", cli_lines()),
        "config.md": _page("config.toml", config_lines()),
        "sdk.md": _page("What programs import", sdk_lines()),
        "blocking.md": _page("What blocking programs import", blocking_lines()),
        "architectures.md": _page("Architectures of models", architecture_lines()),
    }


TIERS = {
    "paged tokens": "Attention reads the pages in place, and tokens of any number of contexts are one pass.",
    "paged equal": "As above, but recurrent layers are part of others: inputs of unequal length are several passes.",
    "dense equal": "The model needs keys and values as arrays: each pass gathers them from the pages.",
    "dense alone": "As above, and one context at a time.",
}
"""What each tier of the engine means for a user."""


def architecture_lines() -> Iterator[str]:
    """The architectures that were compared with mlx-lm, by tier, and the refused ones."""
    known = verified()
    yield "`model_type` in a model's `config.json`. On pages these give the same results as on mlx-lm's own cache, up"
    yield "to rounding (`python -m benchmarks.architectures`). Any other architecture of mlx-lm is compared when it is"
    yield "loaded, and refused if it differs.\n"
    yield from _table_of_promises()
    for tier in sorted(set(known.values()), key=list(TIERS).index):
        yield f"\n## {tier.capitalize()}\n\n{TIERS[tier]}\n"
        yield ", ".join(f"`{name}`" for name in sorted(known) if known[name] == tier)
    yield "\n## Refused\n\n| architecture | why |\n|---|---|"
    yield from (f"| `{name}` | {reason} |" for name, reason in sorted(REFUSED.items()))


PROMISES = (
    ("reuse of equal beginnings", "from page to page", "from kept state to kept state: prompts of 64 tokens or more"),
    ("`truncate`", "drops tokens", "goes on from the last kept state, and computes the tokens behind it again"),
    ("suspend, save and open", "pages come back from memory or disk, or are computed again", "so does the state"),
    ("price of a context", "its pages", "and as many as its state has bytes"),
)
"""What holds on models without and with recurrent layers."""


def _table_of_promises() -> Iterator[str]:
    yield "Recurrent layers remember all tokens of a context in a state, which is in no page"
    yield "([P16](semantics.md#p16)):\n"
    yield "| | attention only | with recurrent layers |\n|---|---|---|"
    yield from (f"| {' | '.join(row)} |" for row in PROMISES)
    yield "\nA model with such layers uses no drafts."


def config_lines() -> Iterator[str]:
    """A table of keys for each section."""
    yield "Sources of a value, of which the later wins: default, file (`$PIE_HOME/config.toml`), environment, flag."
    yield "A variable is named after its key: `PIE_SERVER__PORT`, `PIE_MODEL__0__HF_REPO`."
    yield "Keys marked * exist so that a file can name them; this version refuses other values than the default."
    for table, keys in groupby(KEYS.values(), key=lambda key: key.path.rpartition(".")[0]):
        name = table.replace(".0", "")
        yield f"\n## {f'[[{name}]]' if table.endswith('.0') else f'[{name}]'}\n"
        yield "| key | value | default | meaning |\n|---|---|---|---|"
        yield from map(_key_row, keys)


def _key_row(key: Key) -> str:
    name = key.path.rpartition(".")[2]
    cells = [f"{name}{' *' if key.fixed else ''}", rule(key.type), _default(key), key.description]
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _default(key: Key) -> str:
    if key.required:
        return "required"
    if key.default in (None, ""):
        return "unset"
    return f"`{str(key.default).lower() if isinstance(key.default, bool) else key.default}`"


def cli_lines() -> Iterator[str]:
    """A section for each verb, in the order of `pie --help`."""
    root = click.Context(pie, info_name="pie", terminal_width=100)
    common = {name for option in pie.params for name in option.opts}
    yield "Options that every verb takes, before or after its name:\n"
    yield from _options(pie, root, set())
    for title, verbs in SECTIONS.items():
        yield f"\n## {title}"
        for name, verb in verbs.items():
            command = pie.get_command(root, name)
            if verb.summary and command is not None:
                yield from _verb(command, click.Context(command, root, name), common)


def _verb(command: click.Command, context: click.Context, common: set[str]) -> Iterator[str]:
    yield f"\n### {context.command_path}\n"
    yield f"```\n{command.get_usage(context).removeprefix('Usage: ')}\n```\n"
    yield _help(command)
    own = list(_options(command, context, common))
    if own:
        yield ""
        yield from own
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None and not inner.hidden:
                yield from _verb(inner, click.Context(inner, context, name), common)


def _help(command: click.Command) -> str:
    """The help text; what is not to be wrapped becomes a block."""
    paragraphs = [part.strip("\n") for part in inspect.cleandoc(command.help or "").split("\n\n")]
    return "\n\n".join([*map(_block, paragraphs), *([command.epilog] if command.epilog else [])])


def _block(paragraph: str) -> str:
    return f"```\n{paragraph.removeprefix(chr(8)).strip()}\n```" if paragraph.startswith("\b") else paragraph


def _options(command: click.Command, context: click.Context, left_out: set[str]) -> Iterator[str]:
    records = [
        option.get_help_record(context)
        for option in command.get_params(context)
        if isinstance(option, click.Option) and not left_out & set(option.opts)
    ]
    rows = [f"| `{names.replace('|', chr(92) + '|')}` | {text} |" for names, text in filter(None, records)]
    if rows:
        yield "| option | |\n|---|---|"
        yield from rows


def _page(title: str, lines: Iterator[str]) -> str:
    return "\n".join([f"# {title}\n", f"{_GENERATED}\n", *lines]) + "\n"


def main() -> None:
    """Write all pages."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        print(FOLDER / name)


if __name__ == "__main__":
    main()
