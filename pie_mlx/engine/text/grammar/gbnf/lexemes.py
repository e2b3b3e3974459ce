"""A grammar cut into lexemes."""

from collections.abc import Iterator, Set
from dataclasses import dataclass, field

from pie_mlx.engine.text.grammar.gbnf.facts import Facts
from pie_mlx.engine.text.grammar.gbnf.nodes import Chars, Choice, Node, Reference, Repeat, Sequence

NOTHING = '""'


@dataclass(slots=True)
class Lexeme:
    """`follow` are the patterns of the characters that may come next. One that is not `large` is a single character."""

    name: str
    large: bool
    follow: set[str] = field(default_factory=set[str])


class Lexemes:
    """What repeats no rule is one lexeme, as large as it can be. What is `opened` is cut into its parts, and so on.
    Lexemes are known by their text in Lark, and never match nothing."""

    def __init__(self, facts: Facts, opened: Set[str], root: str) -> None:
        self.found: dict[str, Lexeme] = {}
        self._facts = facts
        self._opened = opened
        self._rules = {name: "start" if name == root else f"r{place}" for place, name in enumerate(facts.rules)}
        self._terminals = {name: f"T{place}" for place, name in enumerate(facts.regular)}
        self._follow: dict[str, set[str]] = {root: set()}
        self._gather()

    def terminals(self) -> str:
        """Their definitions in Lark."""
        named = [f"{terminal}: {self._text(self._facts.rules[name])}" for name, terminal in self._terminals.items()]
        return "\n".join([*named, *(f"{lexeme.name}: {text}" for text, lexeme in self.found.items())])

    def lark(self) -> str:
        """The grammar."""
        rules = [f"{self._rules[name]}: {self._body(self._facts.rules[name])}" for name in self._follow]
        return "\n".join([*rules, self.terminals()]) + "\n"

    def _gather(self) -> None:
        waiting = list(self._follow)
        while waiting:
            name = waiting.pop()
            for other, follow in self._walk(self._facts.rules[name], self._follow[name]):
                if other not in self._follow or not follow <= self._follow[other]:
                    self._follow.setdefault(other, set()).update(follow)
                    waiting.append(other)

    def _walk(self, node: Node, follow: Set[str]) -> Iterator[tuple[str, Set[str]]]:
        """Every rule in a node that is no lexeme's part, and what may follow it there."""
        if self._is_lexeme(node):
            self._meet(node, follow)
            return
        match node:
            case Sequence():
                for part in reversed(self._parts(node)):
                    yield from self._walk(part, follow)
                    follow = self._facts.first(part) | (follow if self._facts.nullable(part) else frozenset[str]())
            case Choice(options=options):
                for option in options:
                    yield from self._walk(option, follow)
            case Repeat(node=inner, most=most):
                yield from self._walk(inner, follow if most == 1 else follow | self._facts.first(inner))
            case Reference(name=name):
                yield name, frozenset(follow)
            case Chars():
                pass

    def _meet(self, node: Node, follow: Set[str]) -> None:
        text = self._lexeme(node)
        if text != NOTHING:
            large = not isinstance(node, Chars)
            self.found.setdefault(text, Lexeme(f"L{len(self.found)}", large)).follow.update(follow)

    def _is_lexeme(self, node: Node) -> bool:
        if isinstance(node, Chars):
            return True
        return self._facts.is_regular(node) and self._lexeme(node) not in self._opened

    def _parts(self, node: Sequence) -> list[Node]:
        """The parts, with those that make one lexeme together in one."""
        found: list[Node] = []
        together: list[Node] = []
        for part in (*node.parts, None):
            if part is not None and self._is_lexeme(part):
                together.append(part)
                continue
            whole = Sequence(tuple(together))
            found += [whole] if len(together) > 1 and self._is_lexeme(whole) else together
            together = []
            found += [] if part is None else [part]
        return found

    def _lexeme(self, node: Node) -> str:
        text = self._text(node)
        if not self._facts.first(node):
            return NOTHING
        return f"({text}) & /(?s:.+)/" if self._facts.nullable(node) else text

    def _text(self, node: Node) -> str:
        """A regular node as a terminal."""
        match node:
            case Chars(pattern=pattern):
                return f"/{pattern}/"
            case Sequence(parts=parts):
                # No pattern has a slash or a space.
                return " ".join(map(self._text, parts)).replace("/ /", "") or NOTHING
            case Choice(options=options):
                return f"({' | '.join(map(self._text, options))})"
            case Repeat(node=inner):
                return f"({self._text(inner)}){_times(node)}"
            case Reference(name=name):
                return self._terminals[name]

    def _body(self, node: Node) -> str:
        """A node of a rule."""
        if self._is_lexeme(node):
            text = self._lexeme(node)
            return text if text == NOTHING else self.found[text].name + "?" * self._facts.nullable(node)
        match node:
            case Sequence():
                return " ".join(map(self._body, self._parts(node)))
            case Choice(options=options):
                return f"({' | '.join(map(self._body, options))})"
            case Repeat(node=inner):
                return f"({self._body(inner)}){_times(node)}"
            case Reference(name=name):
                return self._rules[name]
            case Chars():
                return NOTHING


def _times(node: Repeat) -> str:
    return f"{{{node.least},{'' if node.most is None else node.most}}}"
