"""Which variables a chat template reads."""

from typing import Any, cast

import jinja2
from jinja2 import meta, nodes

CONVERSATION = frozenset({"messages", "tools", "add_generation_prompt"})
"""Variables that every template gets, and that programs cannot set."""


def variables_in(environment: jinja2.Environment, source: str) -> set[str]:
    """The variables that a template reads besides the conversation. Raises jinja2.TemplateSyntaxError.

    A variable that it sets in one branch and reads in another is its own, unless it tests whether it is defined, as in
    `{% if reasoning_effort is not defined %}{% set reasoning_effort = "medium" %}{% endif %}`.
    """
    tree = environment.parse(source)
    own = {name.name for name in tree.find_all(nodes.Name) if name.ctx != "load"}
    provided = cast("dict[str, Any]", environment.globals)  # pyright: ignore[reportUnknownMemberType]
    return meta.find_undeclared_variables(tree) - (own - _asked_for(tree)) - CONVERSATION - provided.keys()


def _asked_for(tree: nodes.Template) -> set[str]:
    tested = [test.node for test in tree.find_all(nodes.Test) if test.name == "defined"]
    defaulted = [filtered.node for filtered in tree.find_all(nodes.Filter) if filtered.name in ("default", "d")]
    return {node.name for node in (*tested, *defaulted) if isinstance(node, nodes.Name)}
