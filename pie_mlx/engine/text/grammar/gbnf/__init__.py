"""GBNF, translated exactly for an engine whose lexer always takes the longest match."""

from pie_mlx.engine.text.grammar.gbnf.lark import gbnf_to_lark

__all__ = ["gbnf_to_lark"]
