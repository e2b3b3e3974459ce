"""What holds of a grammar however it is cut into lexemes."""

from collections.abc import Mapping

from pie_mlx.engine.text.grammar.gbnf.nodes import (
    Chars,
    Choice,
    Node,
    Reference,
    Repeat,
    Sequence,
    children,
    references,
)


class Facts:
    """`regular` are the rules that never come back to themselves, each after all that it names."""

    def __init__(self, rules: Mapping[str, Node]) -> None:
        self.rules = rules
        self._users = _users(rules)
        self.regular = self._find_regular()
        self._nullable: set[str] = set()
        self._first: dict[str, frozenset[str]] = dict.fromkeys(rules, frozenset[str]())
        waiting = dict.fromkeys([*(name for name in rules if name not in self.regular), *reversed(self.regular)])
        while waiting:
            name, _ = waiting.popitem()
            if self._look(name):
                waiting.update(dict.fromkeys(self._users[name]))

    def nullable(self, node: Node) -> bool:
        """Whether it may be nothing."""
        match node:
            case Chars():
                return False
            case Sequence(parts=parts):
                return all(map(self.nullable, parts))
            case Choice(options=options):
                return any(map(self.nullable, options))
            case Repeat(node=inner, least=least):
                return least == 0 or self.nullable(inner)
            case Reference(name=name):
                return name in self._nullable

    def first(self, node: Node) -> frozenset[str]:
        """The patterns of the characters it may begin with."""
        match node:
            case Chars(pattern=pattern):
                return frozenset([pattern])
            case Sequence(parts=parts):
                found: set[str] = set()
                for part in parts:
                    found |= self.first(part)
                    if not self.nullable(part):
                        break
                return frozenset(found)
            case Choice(options=options):
                return frozenset[str]().union(*map(self.first, options))
            case Repeat(node=inner):
                return self.first(inner)
            case Reference(name=name):
                return self._first[name]

    def is_regular(self, node: Node) -> bool:
        """Whether it names no rule that comes back to itself."""
        if isinstance(node, Reference):
            return node.name in self.regular
        return all(map(self.is_regular, children(node)))

    def _look(self, name: str) -> bool:
        """Whether anything new is known of a rule."""
        node = self.rules[name]
        nullable, first = self.nullable(node), self.first(node)
        changed = first != self._first[name] or nullable != (name in self._nullable)
        self._first[name] = first
        if nullable:
            self._nullable.add(name)
        return changed

    def _find_regular(self) -> dict[str, None]:
        missing = {name: len(references(node)) for name, node in self.rules.items()}
        found = dict.fromkeys(name for name, count in missing.items() if not count)
        ready = list(found)
        while ready:
            for user in self._users[ready.pop()]:
                missing[user] -= 1
                if not missing[user]:
                    found[user] = None
                    ready.append(user)
        return found


def _users(rules: Mapping[str, Node]) -> dict[str, list[str]]:
    """The rules that name each rule."""
    users: dict[str, list[str]] = {name: [] for name in rules}
    for name, node in rules.items():
        for other in references(node):
            users[other].append(name)
    return users
