"""The blocking SDK: what `import inferlet` gives to a plain `def main(input)` and to a script without main.

Every call blocks until it is done; there is no `async`. The engine and its rules are those of the asynchronous SDK, and
an object that never waits is the same object in both.
"""

import sys
from importlib import import_module
from types import ModuleType

from inferlet import brle, chat, errors, mcp, reasoning, scheduling, tools
from inferlet.arguments import Arguments, parse_args
from inferlet.constraint import AnyJson, Ebnf, GrammarConstraint, JsonSchema, Regex
from inferlet.grammar import Grammar
from inferlet.matcher import Matcher
from inferlet.model import Tokenizer
from inferlet.runtime import get_return_value, set_return
from inferlet.sync import messaging, runtime, session, zo
from inferlet.sync import sampler as sample
from inferlet.sync.adapter import Adapter
from inferlet.sync.context import Context
from inferlet.sync.decoder import Decoder
from inferlet.sync.event import Event
from inferlet.sync.forward_pass import ForwardPass
from inferlet.sync.model import Model
from inferlet.sync.sampler import Sampler
from inferlet.sync.stream import EventStream, TokenStream

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

_SHARED = frozenset({"constraint", "forward", "generation", "generator", "grammar", "matcher"}) | {
    "model", "output", "raw", "spec", "step"
}  # fmt: skip
sys.modules[f"{__name__}.sample"] = sample  # its name in Pie


def __getattr__(name: str) -> ModuleType:
    """Modules of the asynchronous SDK, for what this one has none of its own."""
    if name not in _SHARED:
        raise AttributeError(f"module 'inferlet' has no attribute {name!r}")
    return import_module(f"inferlet.{name}")
