"""Grammars: text that generation must match, as masks over the vocabulary."""

from pie_mlx.engine.text.grammar.base import NO_FREEDOM, Freedom, Matcher
from pie_mlx.engine.text.grammar.service import GrammarService
from pie_mlx.engine.text.grammar.tool_calls.tool_grammars import NativeToolGrammars

__all__ = ["NO_FREEDOM", "Freedom", "GrammarService", "Matcher", "NativeToolGrammars"]
