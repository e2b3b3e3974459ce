"""The reference pages, written from the code: `python -m tools.docs`."""

import inspect
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path

import click

from pie_mlx.cli.help import TOPICS
from pie_mlx.cli.main import SECTIONS, pie
from pie_mlx.config.schema import KEYS, Key
from pie_mlx.config.values import rule
from pie_mlx.engine.model.networks.promises import Promises
from pie_mlx.engine.model.networks.tiers import REFUSED, promised, verified
from pie_mlx.engine.policies import Reason, ReasonKind
from tools.host_reference import host_lines
from tools.http_reference import http_lines
from tools.javascript.reference import javascript_lines
from tools.rule_reference import rule_lines
from tools.sdk_reference import blocking_lines, sdk_lines

FOLDER = Path(__file__).parent.parent / "docs" / "reference"
_GENERATED = "<!-- Written by `python -m tools.docs`. Change the code, then run it. -->"


TIERS = {
    "paged tokens": "Attention reads the pages in place, and tokens of any number of contexts are one pass.",
    "paged latents": "As above; pages hold the latent that all heads of a layer attend to, as mlx-lm's own cache does.",
    "paged equal": "Attention reads the pages in place, but recurrent layers are part of others.",
    "dense equal": "The model needs keys and values as arrays: each pass gathers them from the pages.",
    "dense alone": "As above, and one context at a time.",
}
"""What each tier of the engine means for a user."""

PROMISES = {
    "draft": "guessed tokens are verified in one pass",
    "ragged": "inputs of unequal length are one pass",
}
"""What each column of the table means for a user."""

GATHERED = {
    "deepseek_v32": "it attends to a selection of tokens, which it makes by multiplying with keys of their own",
    "glm_moe_dsa": "as `deepseek_v32`",
    "plamo": "it repeats keys and values for its heads itself",
}
"""Why the model needs keys and values as arrays."""


def architecture_lines() -> Iterator[str]:
    """The architectures that were compared with mlx-lm: their tiers, what the engine does for them, and the refused
    ones."""
    known = verified()
    if undescribed := set(known.values()) - TIERS.keys():
        raise ValueError(f"tiers without a description: {undescribed}")
    found = {name: promised(name) or Promises() for name in sorted(known)}
    reasons = list(dict.fromkeys(reason for each in found.values() for reason in each.lacking().values()))
    yield "`model_type` in a model's `config.json`. On pages these give the same results as on mlx-lm's own cache, up"
    yield "to rounding (`python -m benchmarks.architectures`). Any other architecture of mlx-lm is compared when it is"
    yield "loaded, and refused if it differs. `pie model show NAME` says the same about a model.\n"
    yield "Recurrent layers remember all tokens of a context in a state, which is in no page"
    yield "([how it is kept](semantics.md#p16)). The engine keeps it after the last full page of a prompt of 64 tokens"
    yield "or more, where two prompts part, and where contexts are suspended or saved; later tokens are computed again."
    yield "The state of a context costs as many pages as it has bytes. Masks that hide something and positions that"
    yield "change the order are refused on models with such layers.\n"
    yield from (f"- *{tier}*: {meaning}" for tier, meaning in TIERS.items() if tier in known.values())
    yield ""
    yield "For all of them, equal beginnings of prompts are computed once, and contexts forget their last tokens, make"
    yield "room for others and are saved. For most of them:\n"
    yield from (f"- *{promise}*: {meaning}." for promise, meaning in PROMISES.items())
    yield f"\n| architecture | pages | {' | '.join(PROMISES)} |\n|---|---|{'---|' * len(PROMISES)}"
    for name, promises in found.items():
        lacks = promises.lacking()
        cells = [f"no ({reasons.index(lacks[promise]) + 1})" if promise in lacks else "yes" for promise in PROMISES]
        yield f"| `{name}` | {known[name]} | {' | '.join(cells)} |"
    yield "\nWhy not: the model\n"
    yield from (f"{number}. {reason}" for number, reason in enumerate(reasons, 1))
    yield "\n## Gathered\n\n| architecture | why its keys and values are gathered |\n|---|---|"
    yield from (f"| `{name}` | {GATHERED[name]} |" for name in found if known[name].startswith("dense"))
    yield "\n## Refused\n\n| architecture | why |\n|---|---|"
    yield from (f"| `{name}` | {reason} |" for name, reason in sorted(REFUSED.items()))


WAITS = (
    (
        Reason(ReasonKind.OUTBID, 0.8, 1.2, 1.2, pages=14, suspended=True),
        "Other contexts bid more for the pages.",
        "Say how short the text is (`horizon=`, `max_tokens`), release contexts that are no longer"
        " needed, or give the launch a larger `--token-budget`. It comes back in any case, after a longer wait.",
    ),
    (
        Reason(ReasonKind.DEFAULTED, suspended=True),
        "The wallet could not pay the rent of a tick, so its bids count as 0.",
        "Hold fewer pages at a time, or give the launch a larger `--token-budget`. Dividends fill the wallet again.",
    ),
    (
        Reason(ReasonKind.YIELDS_TO_DUE, waited_ticks=128, suspended=True),
        "Another context had waited so long that it got its turn whatever it bids.",
        "Nothing: it comes back the same way at the latest. If it happens often, the pool is too small for the load.",
    ),
    (
        Reason(ReasonKind.NEWER, pages=3, suspended=True),
        "Under `fcfs`, or with equal bids under `priority`: an older context needs the pages.",
        "Nothing: older programs end. Or choose the policy `market`.",
    ),
    (
        Reason(ReasonKind.STAYS, 1.2, 0.8, pages=14, move_cost=2.0),
        "It bids more than a context in the pool, by less than moving that one would cost.",
        "Nothing: the moving cost falls while that context stays.",
    ),
    (
        Reason(ReasonKind.HEADROOM, pages=14, available_pages=20),
        "There are pages for it, but the contexts in the pool will soon need them to grow.",
        "Nothing, or start fewer programs at a time.",
    ),
    (
        Reason(ReasonKind.NO_PAGES, 0.8, pages=14, available_pages=2),
        "No context that could yield has enough pages.",
        "Release contexts, bid more, or enlarge the pool (`total_pages`).",
    ),
    (
        Reason(ReasonKind.PAGES_COMING, pages=3),
        "Others yield to it, as soon as they have run the pass that they got pages for.",
        "Nothing: it is a matter of ticks.",
    ),
    (
        Reason(ReasonKind.MEMORY),
        "The system is short of memory, so the engine does with fewer pages and smaller batches.",
        "Close other applications, choose a smaller model, or lower `kv_memory_fraction`.",
    ),
    (
        Reason(ReasonKind.BATCH_CONTEXTS),
        "More contexts can run than a batch has places (`max_batch_contexts`); the lowest ranks wait for a tick.",
        "Nothing, or bid more.",
    ),
    (
        Reason(ReasonKind.BATCH_TOKENS),
        "The batch has no room for its tokens (`max_batch_tokens`), mostly those of a long prompt.",
        "Nothing: long prompts are read one after the other. A larger `decode_stall_ms` reads them faster.",
    ),
    (
        Reason(ReasonKind.USER_SHARE),
        "Several users have work, and a batch gives each the same share of its time.",
        "Nothing: its turn comes within a few batches.",
    ),
)
"""An example of each kind of reason, what it means, and what to do."""


def wait_lines() -> Iterator[str]:
    """Each kind of reason."""
    yield "`pie ps` and `pie top` say why a program waits for pages or for a place in a batch; events name the kind"
    yield "too. A context that gave its pages back with `suspend()` reads `suspended: by its program`.\n"
    yield "| kind | reads, for example | meaning | what to do |\n|---|---|---|---|"
    known = {example.kind: (example.text(), meaning, advice) for example, meaning, advice in WAITS}
    yield from (f"| {' | '.join((f'`{kind}`', *known[kind]))} |" for kind in ReasonKind)
    yield "\nA program that waits for its client, a message, a child or an MCP server says so instead. More about"
    yield "prices: [the market](../guide/market.md)."


def config_lines() -> Iterator[str]:
    """A table of keys for each section."""
    yield "Sources of a value, of which the later wins: default, file (`$PIE_HOME/config.toml`), environment, flag."
    yield "A variable is named after its key: `PIE_SERVER__PORT`, `PIE_MODEL__0__HF_REPO`."
    yield "Keys marked * exist so that a file can name them; this version refuses other values than the default."
    for table, keys in groupby(KEYS.values(), key=lambda key: key.path.rpartition(".")[0]):
        name = table.replace(".0", "")
        heading = f"[[{name}]]" if table.endswith(".0") else f"[{name}]"
        yield f"\n## {heading if name else 'Before all tables'}\n"
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
    yield "\n## Topics\n"
    yield "`pie help TOPIC` prints them."
    for name, text in TOPICS.items():
        yield f"\n### {name}\n\n```\n{text}\n```"


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


PAGES: dict[str, tuple[str, Callable[[], Iterable[str]]]] = {
    "cli.md": ("Command line", cli_lines),
    "config.md": ("config.toml", config_lines),
    "sdk.md": ("What programs import", sdk_lines),
    "blocking.md": ("What blocking programs import", blocking_lines),
    "javascript.md": ("What JavaScript and TypeScript import", javascript_lines),
    "hosts.md": ("What hosts use", host_lines),
    "http.md": ("Fields of HTTP requests", http_lines),
    "architectures.md": ("Architectures of models", architecture_lines),
    "rules.md": ("The format of rules", rule_lines),
    "waits.md": ("Why a program waits", wait_lines),
}
"""Title and lines of every page, by the name of its file."""


def page(name: str) -> str:
    """The text of a page."""
    title, lines = PAGES[name]
    return "\n".join([f"# {title}\n", f"{_GENERATED}\n", *lines()]) + "\n"


def main() -> None:
    """Write all pages."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in PAGES:
        (FOLDER / name).write_text(page(name), encoding="utf-8")
        print(FOLDER / name)


if __name__ == "__main__":
    main()
