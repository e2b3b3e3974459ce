"""Programs as data, acted on the Python SDK: each act is a call of a method, with its result."""

import asyncio
import re
from collections.abc import Awaitable
from typing import Any

import msgspec

import inferlet
from inferlet import AnyJson, Ebnf, JsonSchema, Regex, Sampler
from pie_mlx import calls
from pie_mlx.errors import BatchFailedError, PieError

SCHEMAS: dict[str, Any] = {"anyJson": AnyJson, "jsonSchema": JsonSchema, "regex": Regex, "ebnf": Ebnf}
EXPORTS = ("Context", "Grammar", "Matcher", "Model", "chat")
Act = dict[str, Any]


class _MissingError(Exception):
    """An act before this one should have made its object, and failed."""


def snake_case(name: str) -> str:
    return re.sub(r"[A-Z]", lambda found: f"_{found[0].lower()}", name)


class Script:
    """A constraint, or a speculator, that gives one value after the other and remembers what it was told."""

    def __init__(self, answers: list[Any]) -> None:
        self.answers, self.told = list(answers), list[Any]()

    def _next(self) -> Any:
        return self.answers.pop(0) if self.answers else []


class ScriptedConstraint(Script):
    def step(self, accepted: list[int]) -> list[int]:
        self.told.append(list(accepted))
        return self._next()


class ScriptedSpeculator(Script):
    def draft(self) -> Any:
        return self._next() or ([], [])

    def accept(self, tokens: list[int]) -> None:
        self.told.append(["accept", list(tokens)])

    def rollback(self, n: int) -> None:
        self.told.append(["rollback", n])

    def reset(self) -> None:
        self.told.append(["reset"])


class Actor:
    """Acts on objects that it names."""

    def __init__(self, host: Any) -> None:
        self.host = host
        self.objects: dict[str, Any] = {}

    async def act(self, act: Act) -> Any:
        """The result as plain data; the code of an error that it raises."""
        try:
            found = await self._done(act)
        except StopAsyncIteration:
            return "end"
        except _MissingError:
            return "missing"
        except PieError as error:
            return {"error": error.code}
        if "as" in act and found is not None:
            self.objects[act["as"]] = found
        return plain(found)

    async def _done(self, act: Act) -> Any:
        if act["call"] == "fail":
            self.host.failure = BatchFailedError("batch: lost", hint="try again", cause="test")
            return None
        if act["on"] not in self.objects and act["on"] not in EXPORTS:
            raise _MissingError(act["on"])
        target = self.objects.get(act["on"]) or getattr(inferlet, act["on"])
        arguments = [self._made(value) for value in act.get("args", ())]
        options = {snake_case(name): self._made(value) for name, value in act.get("options", {}).items()}
        match act["call"]:
            case "new":
                return target(*arguments, **options)
            case "next":
                return await target.__anext__()
            case "leave":
                target.__exit__(None, None, None)
                return None
            case "idle":
                scope = target.idle()
                scope.__enter__()
                return scope
            case name:
                found = getattr(target, {"appendText": "append"}.get(name, snake_case(name)))
                done = found(*arguments, **options) if callable(found) else found
                return await done if isinstance(done, Awaitable) else done

    def _made(self, value: Any) -> Any:
        if not isinstance(value, dict) or len(value) != 1:
            return value
        ((kind, given),) = value.items()
        match kind:
            case "ref":
                return self.objects[given]
            case "sampler":
                name, *arguments = given
                return getattr(Sampler, snake_case(name))(*arguments)
            case "penalized":
                bias = {int(token): value for token, value in given["bias"].items()}
                return Sampler.argmax().penalized(**{**given, "bias": bias})
            case "probe":
                name, *arguments = given
                return getattr(inferlet, name)(*arguments)
            case "schema":
                name, *arguments = given
                return SCHEMAS[name](*arguments)
            case "constraint":
                return self._kept(ScriptedConstraint(given))
            case "speculator":
                return self._kept(ScriptedSpeculator(given))
            case _:
                return value

    def _kept(self, script: Script) -> Script:
        self.objects["script"] = script
        return script


class Recorder:
    """A host that remembers what crosses, as JSON."""

    def __init__(self, host: Any) -> None:
        self.host = host
        self.crossed: list[dict[str, Any]] = []

    def call(self, message: calls.Call[Any]) -> Any:
        return self._noted(message, self.host.call)

    async def submit(self, message: calls.Call[Any]) -> Any:
        return self._noted(message, self.host.call)

    def post(self, message: calls.Call[Any]) -> None:
        self.host.post(message)
        self.crossed.append({"call": message_data(message), "posted": True})

    def _noted(self, message: calls.Call[Any], carry: Any) -> Any:
        entry: dict[str, Any] = {"call": message_data(message)}
        self.crossed.append(entry)
        try:
            reply = carry(message)
        except PieError as error:
            entry["error"] = [error.code, error.message, error.hint, error.details]
            raise
        entry["reply"] = plain(msgspec.to_builtins(reply, builtin_types=(bytes,)))
        return reply


def message_data(message: calls.Call[Any]) -> Any:
    return plain(msgspec.to_builtins(message, builtin_types=(bytes,), str_keys=True))


def plain(value: Any) -> Any:
    """JSON data; an object of the SDK is null."""
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    return value if isinstance(value, str | int | float | bool) else None


async def acted(host: Any, acts: list[Act]) -> tuple[list[Any], list[dict[str, Any]]]:
    """The results of acts, and what crossed."""
    from inferlet._calls.host import use_host

    recorder = Recorder(host)
    with use_host(recorder):  # pyright: ignore[reportArgumentType]
        actor = Actor(host)
        results = [await actor.act(act) for act in acts]
        crossed = [*recorder.crossed]
    await asyncio.sleep(0)
    return results, crossed
