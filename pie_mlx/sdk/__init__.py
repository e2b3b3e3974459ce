"""The SDK, which inferlets import as `inferlet`.

Objects here build messages and hold handles; the engine is behind `pie_mlx.calls`. What programs use is in flat
modules, and what these are made of is in `_calls`, `_context`, `_decoding` and `_generation`.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from pie_mlx import errors
from pie_mlx.sdk import brle, messaging, runtime, scheduling, session, spec
from pie_mlx.sdk.adapter import Adapter
from pie_mlx.sdk.arguments import Arguments, parse_args
from pie_mlx.sdk.constraint import AnyJson, Constraint, Ebnf, GrammarConstraint, JsonSchema, Regex, Schema
from pie_mlx.sdk.context import Context
from pie_mlx.sdk.forward import Forward
from pie_mlx.sdk.generator import Generator
from pie_mlx.sdk.grammar import Grammar
from pie_mlx.sdk.matcher import Matcher
from pie_mlx.sdk.model import Model, Tokenizer
from pie_mlx.sdk.output import Output, ProbeHandle, SampleHandle
from pie_mlx.sdk.raw import RawContext
from pie_mlx.sdk.runtime import get_return_value, set_return
from pie_mlx.sdk.sampler import (
    Distribution,
    Entropy,
    HiddenMean,
    HiddenState,
    Logits,
    Logprob,
    Logprobs,
    Probe,
    Sampler,
)
from pie_mlx.sdk.spec import Speculator
from pie_mlx.sdk.step import GenStep

if TYPE_CHECKING:
    from pie_mlx.sdk import chat, mcp, reasoning, tools, zo

__all__ = [
    "Adapter",
    "AnyJson",
    "Arguments",
    "Constraint",
    "Context",
    "Distribution",
    "Ebnf",
    "Entropy",
    "Forward",
    "GenStep",
    "Generator",
    "Grammar",
    "GrammarConstraint",
    "HiddenMean",
    "HiddenState",
    "JsonSchema",
    "Logits",
    "Logprob",
    "Logprobs",
    "Matcher",
    "Model",
    "Output",
    "Probe",
    "ProbeHandle",
    "RawContext",
    "Regex",
    "SampleHandle",
    "Sampler",
    "Schema",
    "Speculator",
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
    "spec",
    "tools",
    "zo",
]

_LAZY = frozenset({"chat", "mcp", "reasoning", "tools", "zo"})
_ALSO_CALLED = {"generation": "generator", "sample": "sampler"}
"""Modules that have another name in Pie."""


def __getattr__(name: str) -> ModuleType:
    """Modules loaded when first used: most programs need at most one of them."""
    name_here = _ALSO_CALLED.get(name, name)
    if name_here not in _LAZY and name_here == name:
        raise AttributeError(f"module 'inferlet' has no attribute {name!r}")
    return import_module(f"{__name__}.{name_here}")
