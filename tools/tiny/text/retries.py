"""Results that are errors: called again when the error says so, corrected when it says how, reported otherwise."""

import dataclasses
from typing import Any

from tools.tiny.text.sample import Check, Message, Sample, assistant, calling, result, user
from tools.tiny.text.source import Source, phrases
from tools.tiny.text.tool_use import (
    Request,
    distinct_offers,
    exchange,
    failure,
    opening,
    outcome,
    request,
    schemas,
)
from tools.tiny.text.tool_wordings import ERRORS

AGAIN = phrases("""timeout, please retry | server busy, try again | temporary error, retry |
no connection, please try again | try once more | please call again | busy, call again | not ready, retry now |
overloaded, retry | lost connection, try once more | please repeat the call | temporary failure, try again |
retry | slow network, please retry | interrupted, please try again | not finished, call again |
please try again | try again | try again now | call again | call again please | retry please |
please retry the call | please call once more | repeat the call | repeat the request | please repeat |
please repeat the request | timeout, try again | timeout, call again | timeout, please repeat |
server busy, please retry | server busy, call once more | server not ready, try again |
server overloaded, please try again | service busy, retry | service not ready, try once more |
network error, try again | network busy, please retry | slow connection, try again |
connection lost, please retry | connection interrupted, call again | interrupted, retry |
busy, please try once more | busy, retry now | temporary problem, try again |
temporary problem, please call again | temporary timeout, retry | temporary error, call once more |
not ready, please call again | not ready, try again | not finished, retry | still loading, try again |
still starting, please retry | overloaded, please repeat the call | overloaded, try once more |
failure, please try once more | no answer, please retry | no answer yet, call again | request lost, repeat it |
request lost, please try again | something went wrong, try again | something failed, please retry |
one more try, please | please make the call again | do it again, it should work | it was busy, repeat the call""")
MEANT = phrases("""unknown {k} {x}, did you mean {y}? | no {k} {x}, use {y} | {x} not found, did you mean {y}? |
{k} {x} is wrong, it must be {y} | invalid {k}: {x}. Use {y} | there is no {x}, but {y} | {k} must be {y} |
{x} does not exist, try {y} | did you mean {y}? | use {y} instead of {x} | wrong {k}, use {y} |
bad {k} {x}, the right one is {y} | {k}: {x} is now {y} | not {x}: {y} | unknown {k}: {x}. Did you mean {y}? |
unknown {k} {x}, use {y} | unknown {k} {x}, try {y} | no {k} named {x}. Did you mean {y}? |
no such {k}: {x}. Try {y} | no such {k}, use {y} | {k} not found: {x}. Use {y} | {k} {x} not found, try {y} |
{x} not found, use {y} | {x} is unknown, did you mean {y}? | {x} is not a known {k}, use {y} |
{x} is wrong, use {y} | {x} is wrong. The right {k} is {y} | {x} is not valid, use {y} |
{x} is not right, it must be {y} | {x} is no {k}, but {y} is | {x} does not exist. Did you mean {y}? |
{x} does not exist, use {y} | {x} was changed to {y} | {x} is now {y} | {k} {x} is now {y} |
{k} must be {y}, not {x} | {k} should be {y} | {k} should be {y}, not {x} | {k} is {y}, not {x} |
wrong {k} {x}, try {y} | wrong {k}: {x}. It must be {y} | invalid {k} {x}, use {y} |
invalid {k}, did you mean {y}? | invalid {k}: try {y} | bad {k}: {x}. Did you mean {y}? | bad {k}, use {y} |
the {k} must be {y} | the {k} is not {x} but {y} | the right {k} is {y} | the {k} {x} does not exist, try {y} |
did you mean {y} instead of {x}? | you mean {y}, not {x} | use {y} as {k} | use {y}, not {x} |
try {y} instead of {x} | try the {k} {y} | please use {y} for {k} | please use the {k} {y} |
instead of {x} use {y} | there is no {k} {x}. Try {y} | there is no {x}, use {y} | only {y} is known, not {x}""")


def _shown(source: Source, error: str) -> Any:
    return source.any(({"error": error}, f"error: {error}", {"status": "error", "message": error}))


def _call(wish: Request) -> Message:
    return calling((wish.offer.name, wish.arguments))


def _temporary(source: Source) -> Any:
    """An error that asks for the same call once more, in words or by a flag."""
    if source.chance(0.25):
        return {"error": source.one(ERRORS), "retry": True}
    return _shown(source, source.one(AGAIN))


def _repeated(source: Source, wish: Request) -> tuple[list[Message], list[str]]:
    """The same call twice; the second result is good, or an error that is reported."""
    value, answer, values = outcome(source, wish)
    turns = [user(wish.text), _call(wish), result(_temporary(source)), _call(wish)]
    if source.chance(0.25):
        value, answer, values = failure(source, source.one(ERRORS))
    return [*turns, result(value), assistant(answer)], values


def _corrected(source: Source, wish: Request) -> tuple[list[Message], list[str]]:
    """A call with a wrong text and the same call with the text that the error names."""
    places = [
        place
        for place, (key, field) in enumerate(zip(wish.offer.keys, wish.offer.concept.fields, strict=True))
        if field.type == "string" and key in wish.arguments and wish.arguments[key] == wish.spoken[place]
    ]
    if not places:
        return _repeated(source, wish)
    place = source.any(places)
    key, wrong = wish.offer.keys[place], wish.spoken[place]
    right, _ = wish.offer.concept.fields[place].make(source)
    error = source.fill(MEANT, k=key.replace("_", " "), x=wrong, y=right)
    better = dataclasses.replace(
        wish,
        arguments={**wish.arguments, key: right},
        spoken=(*wish.spoken[:place], right, *wish.spoken[place + 1 :]),
    )
    value, answer, values = outcome(source, better)
    turns = [user(wish.text), _call(wish), result(_shown(source, error)), _call(better)]
    return [*turns, result(value), assistant(answer)], values


def _reported(source: Source, wish: Request) -> tuple[list[Message], list[str]]:
    """An error that no second call helps against."""
    error = source.one(ERRORS)
    value, answer, values = failure(source, error)
    if source.chance(0.3):
        value = {"error": error, "retry": False}
    return [user(wish.text), _call(wish), result(value), assistant(answer)], values


def make_retry(source: Source) -> Sample:
    """One to three wishes that meet errors; the last ends in its second call, its answer or the report."""
    offers = distinct_offers(source, source.any((1, 2, 2, 3)))
    turns = opening(source)
    if source.chance(0.3):
        turns += exchange(source, request(source, source.any(offers)))[0]
    kind, values = _repeated, list[str]()
    for _ in range(source.any((1, 1, 2, 3))):
        kind = source.any((_repeated, _repeated, _corrected, _corrected, _reported))
        done, values = kind(source, request(source, source.any(offers)))
        turns += done
    tools = schemas(source, offers)
    if kind is _reported:
        return Sample("error reported", tuple(turns), Check("contains", values), tools)
    if source.varied and source.chance(0.7):
        return Sample("error retried", tuple(turns), Check("contains", values), tools)
    function = turns[-3]["tool_calls"][0]["function"]
    check = Check("calls", [(function["name"], function["arguments"])])
    return Sample("error retried", tuple(turns[:-2]), check, tools)
