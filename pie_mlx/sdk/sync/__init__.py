"""The blocking SDK: what `import inferlet` gives to a plain `def main(input)` and to a script without main.

Every call blocks until it is done; there is no `async`. The engine and its rules are those of the asynchronous SDK, and
an object that never waits is the same object in both.
"""

from importlib import import_module
from types import ModuleType

from pie_mlx import errors
from pie_mlx.sdk import brle, chat, mcp, reasoning, scheduling, tools
from pie_mlx.sdk.arguments import Arguments, parse_args
from pie_mlx.sdk.constraint import AnyJson, Ebnf, GrammarConstraint, JsonSchema, Regex
from pie_mlx.sdk.grammar import Grammar
from pie_mlx.sdk.matcher import Matcher
from pie_mlx.sdk.model import Tokenizer
from pie_mlx.sdk.runtime import get_return_value, set_return
from pie_mlx.sdk.sync import messaging, runtime, session, zo
from pie_mlx.sdk.sync.adapter import Adapter
from pie_mlx.sdk.sync.context import Context
from pie_mlx.sdk.sync.decoder import Decoder
from pie_mlx.sdk.sync.event import Event
from pie_mlx.sdk.sync.forward_pass import ForwardPass
from pie_mlx.sdk.sync.model import Model
from pie_mlx.sdk.sync.sampler import Sampler
from pie_mlx.sdk.sync.stream import EventStream, TokenStream

__all__ = [
    "Adapter",
    "AnyJson",
    "Arguments",
    "Context",
    "Decoder",
    "Ebnf",
    "Event",
    "EventStream",
    "ForwardPass",
    "Grammar",
    "GrammarConstraint",
    "JsonSchema",
    "Matcher",
    "Model",
    "Regex",
    "Sampler",
    "TokenStream",
    "Tokenizer",
    "brle",
    "chat",
    "errors",
    "get_return_value",
    "mcp",
    "messaging",
    "parse_args",
    "reasoning",
    "runtime",
    "scheduling",
    "session",
    "set_return",
    "tools",
    "zo",
]

_SHARED = frozenset({"constraint", "forward", "generator", "grammar", "matcher"}) | {
    "model", "output", "raw", "spec", "step"
}  # fmt: skip
_ALSO_CALLED = {"generation": "generator", "sample": "sync.sampler"}


def __getattr__(name: str) -> ModuleType:
    """Modules of the asynchronous SDK, for what this one has none of its own."""
    if name not in _SHARED | _ALSO_CALLED.keys():
        raise AttributeError(f"module 'inferlet' has no attribute {name!r}")
    return import_module(f"pie_mlx.sdk.{_ALSO_CALLED.get(name, name)}")
