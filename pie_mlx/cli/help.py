"""`pie help` for words that are no verbs: settings and topics."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

import click

from pie_mlx.cli.lazy import LazyGroup
from pie_mlx.cli.options import Common, common_options

TOPICS = {
    "environment": """Variables
  PIE_HOME                 where pie-mlx keeps its files; ~/.pie if not set
  PIE_URL                  the engine to use, as --url
  PIE_USER, PIE_KEY        the user, and the file of the private key, for an engine with authentication
  PIE_TOKEN                the token of an engine
  PIE_LOG                  the file in which 'pie serve' records events
  PIE_SECTION__KEY         a setting: PIE_SERVER__PORT=9000, PIE_MODEL__0__HF_REPO=pie-tiny
  NO_COLOR                 no colours""",
    "exit-codes": """Exit codes
  0    done
  1    failed: the program, the configuration, no engine, no model
  2    wrong command line
  130  interrupted""",
    "input": """The input of a program
  pie run PATH -- --name value --flag    words after -- become {"name": "value", "flag": true}
  pie run PATH --input '{"name": 1}'     JSON; @FILE reads a file, - reads what is piped in
  pie show NAME                          the parameters of an installed program""",
    "json": """--json
  A listing is one array, a run one object per event.
  A failure is {"error": {"type", "message", "hint"}} on standard error.
  process, user, state and program mean the same everywhere; keys that end in _at are ISO times with their zone.
  Earlier words stay for one version: id and process_id for process, username for user, status for state,
  started_at_secs for started_at, time for at.""",
}


@dataclass(frozen=True, slots=True)
class _Setting:
    key: str
    text: str


@click.command(hidden=True)
@click.argument("words", nargs=-1)
@common_options
@click.pass_context
def command(ctx: click.Context, words: tuple[str, ...]) -> None:
    """Explain a verb, a setting, or a topic: environment, exit-codes, input, json."""
    word = " ".join(words)
    if word in TOPICS:
        found = {"topic": word, "text": TOPICS[word]}
        text = TOPICS[word]
    elif settings := list(_settings(word)):
        found = {setting.key: setting.text for setting in settings}
        text = "\n".join(f"{setting.key}\n  {setting.text}" for setting in settings)
    else:
        raise click.UsageError(f"'{word}' is no command, setting or topic{_suggestion(ctx, word)}")
    print(json.dumps(found, ensure_ascii=False) if ctx.ensure_object(Common).json else text)


def _settings(word: str) -> Iterable[_Setting]:
    """The setting of that key, or those whose last part it is."""
    from pie_mlx.config.schema import KEYS
    from pie_mlx.config.values import rule

    for key in KEYS.values():
        if word in (key.path, key.path.replace(".0", "")) or key.path.endswith(f".{word}"):
            default = "required" if key.required else f"default {json.dumps(key.default)}"
            yield _Setting(key.path, f"{key.description} ({rule(key.type)}, {default})")


def _suggestion(ctx: click.Context, word: str) -> str:
    """From the verbs, else from settings and topics."""
    from pie_mlx.config.schema import KEYS

    root = ctx.find_root()
    if isinstance(root.command, LazyGroup) and (said := root.command.suggestion(root, word)):
        return said
    known = {**{path.rpartition(".")[2]: path for path in KEYS}, **{path: path for path in [*KEYS, *TOPICS]}}
    close = get_close_matches(word, known, n=1)
    return f", did you mean '{known[close[0]]}'?" if close else f": topics are {', '.join(TOPICS)}"
