"""What verbs print with --json: one vocabulary, and a schema of every listing."""

import click
import pytest

from pie_mlx.cli.main import pie as root
from tests.cli.schemas import SCHEMAS, TIME, parsed

EARLIER = {"id": "process", "username": "user", "status": "state", "started_at_secs": "started_at"}
"""Words that stay for one version, beside those that replace them."""
FOREIGN = {"process_id", "time", "created"}
"""Words that no listing has."""
OTHERS = {
    "run", "chat", "attach", "signal", "kill", "client attach", "client submit", "client abort", "client config init",
    "client config show", "client config update",
    "launch", "serve", "stop", "top", "bench", "completion", "help", "config get", "config set", "config init",
    "config schema", "service install", "service status", "service remove", "cache clear", "model convert",
    "model verify", "model pull", "model rm", "mcp add", "mcp remove", "inferlet info", "eval", "replay", "trace",
}  # fmt: skip
"""Verbs that list nothing: what they print is of one thing, a stream, or of no use to scripts."""


def verbs(group, words=()):
    context = click.Context(group)
    for name in group.list_commands(context):
        verb = group.get_command(context, name)
        yield from verbs(verb, (*words, name)) if isinstance(verb, click.Group) else [" ".join((*words, name))]
        if isinstance(verb, click.Group) and verb.invoke_without_command:
            yield " ".join((*words, name))


def test_every_verb_that_lists_has_a_schema():
    assert set(verbs(root)) - set(SCHEMAS) - OTHERS == set()


def properties(schema):
    """The properties of a schema and of what is in them."""
    if "items" in schema:
        return properties(schema["items"])
    found = schema.get("properties", {})
    return {**found, **{name: inner for value in found.values() for name, inner in properties(value).items()}}


@pytest.mark.parametrize("verb", SCHEMAS)
def test_the_words_are_the_same_everywhere(verb):
    found = properties(SCHEMAS[verb])
    assert FOREIGN.isdisjoint(found)
    assert all(found[name] == TIME for name in found if name.endswith("_at") and name != "good_at")
    assert {EARLIER[name] for name in found if name in EARLIER} <= set(found)


@pytest.mark.parametrize("verb", ["list", "model list", "model recommend", "mcp list", "cache", "auth list", "version"])
def test_a_listing_is_what_its_schema_says(pie, verb):
    ended = pie(*verb.split(), "--json")
    assert ended.err == ""
    parsed(verb, ended.out)
