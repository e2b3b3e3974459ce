"""The SDK, which inferlets import as `inferlet`.

Objects here build messages and hold handles; the engine is behind `pie_mlx.calls`. What programs use is in flat
modules, and what these are made of is in `_calls`, `_context`, `_decoding` and `_generation`.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING

from inferlet import brle, errors, messaging, runtime, scheduling, session, spec
from inferlet import generator as generation
from inferlet import sampler as sample
from inferlet.adapter import Adapter
from inferlet.arguments import Arguments, parse_args
from inferlet.constraint import AnyJson, Constraint, Ebnf, GrammarConstraint, JsonSchema, Regex, Schema
from inferlet.context import Context
from inferlet.embedding import Embeddings, Ranked, Ranking
from inferlet.forward import Forward
from inferlet.generator import Generator
from inferlet.grammar import Grammar
from inferlet.matcher import Matcher
from inferlet.model import Model, Tokenizer
from inferlet.output import Output, ProbeHandle, SampleHandle
from inferlet.raw import RawContext
from inferlet.runtime import get_return_value, set_return
from inferlet.sampler import (
    AttentionScores,
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
from inferlet.spec import Speculator
from inferlet.step import GenStep

if TYPE_CHECKING:
    from inferlet import chat, mcp, reasoning, rules, tools, zo
    from inferlet.rules import rule

__all__ = [
    "Adapter",
    "AnyJson",
    "Arguments",
    "AttentionScores",
    "Constraint",
    "Context",
    "Distribution",
    "Ebnf",
    "Embeddings",
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
    "Ranked",
    "Ranking",
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
    "rule",
    "rules",
    "runtime",
    "scheduling",
    "session",
    "set_return",
    "spec",
    "tools",
    "zo",
]

_LAZY = frozenset({"chat", "mcp", "reasoning", "rules", "tools", "zo"})
# Names that these modules have in Pie.
sys.modules[f"{__name__}.generation"] = generation
sys.modules[f"{__name__}.sample"] = sample


def __getattr__(name: str) -> object:
    """Modules loaded when first used: most programs need at most one of them."""
    if name == "rule":
        return import_module(f"{__name__}.rules").rule
    if name not in _LAZY:
        raise AttributeError(f"module 'inferlet' has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")
