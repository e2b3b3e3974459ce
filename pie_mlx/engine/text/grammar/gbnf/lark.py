"""GBNF as Lark for llguidance.

GBNF knows characters alone. llguidance reads lexemes: it takes the longest match of all that may come, and does not go
back. Cut into single characters a grammar keeps its meaning, but a mask takes a hundred times as long. So lexemes are
as large as they can be, and one is cut only where the longest match could be a wrong one: where it begins like another
lexeme and a character that may follow that.
"""

from collections.abc import Callable

from pie_mlx.engine.text.grammar.gbnf.facts import Facts
from pie_mlx.engine.text.grammar.gbnf.lexemes import Lexemes
from pie_mlx.engine.text.grammar.gbnf.nodes import Node, references
from pie_mlx.engine.text.grammar.gbnf.reader import read_gbnf
from pie_mlx.errors import GrammarError

IsEmpty = Callable[[str], bool]
"""Whether a grammar in Lark allows no text. Raises GrammarError for one that is refused."""


def gbnf_to_lark(source: str, is_empty: IsEmpty, root: str = "root") -> str:
    """A grammar in Lark that allows the same text as the rule `root`. Raises GrammarError with line and column."""
    facts = Facts(_reachable(read_gbnf(source, root), root))
    opened: set[str] = set()
    while True:
        lexemes = Lexemes(facts, opened, root)
        ambiguous = _ambiguous(lexemes, is_empty)
        if not ambiguous:
            return lexemes.lark()
        opened |= ambiguous


def _ambiguous(lexemes: Lexemes, is_empty: IsEmpty) -> set[str]:
    """The texts of the lexemes that may begin like another one and what follows it."""
    large = {text: lexeme.name for text, lexeme in lexemes.found.items() if lexeme.large}
    longer = [
        f"{lexeme.name} /({'|'.join(sorted(lexeme.follow))})(?s:.*)/"
        for lexeme in lexemes.found.values()
        if lexeme.follow
    ]
    if not large or not longer:
        return set()
    terminals = f"LONGER: {' | '.join(longer)}\n{lexemes.terminals()}\n"

    def is_apart(names: list[str]) -> bool:
        try:
            return is_empty(f"start: BOTH\nBOTH: LONGER & ({' | '.join(names)})\n{terminals}")
        except GrammarError:  # too large to be told
            return False

    if is_apart(list(large.values())):
        return set()
    return {text for text, name in large.items() if not is_apart([name])} or set(large)


def _reachable(rules: dict[str, Node], root: str) -> dict[str, Node]:
    """Without the rules that `root` never comes to."""
    found: dict[str, Node] = {}
    waiting = [root]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = rules[name]
            waiting += sorted(references(rules[name]))
    return found
