"""Response formats and tool choices, as constraints of generation."""

from dataclasses import dataclass, field

import msgspec
from inferlet import GrammarConstraint, JsonSchema, tools
from wire.fields import AnyObject, NamedChoice, SchemaFormat
from wire.refusals import Refusal

from generation.alternatives import Alternatives

MOST_LEVELS = 200
"""The depth of a schema: later stages read no deeper one."""


@dataclass(frozen=True)
class Rules:
    """`schemas` are the tools offered to the model. `make` gives a constraint for one choice, None without one.

    `make_call` gives the constraint from the beginning of a tool call on, for tools that are strict.
    """

    schemas: list[dict] = field(default_factory=list)
    make: object = None
    make_call: object = None


def rules_of(request, model, terms):
    """The rules of a ChatRequest. Raises Refusal for what cannot be enforced, and the engine's GrammarError."""
    choice = request.tool_choice or ("auto" if request.tools else "none")
    if choice != "none" and not request.tools:
        raise Refusal(400, "tool_choice: there are no tools", param="tool_choice")
    for tool in request.tools:
        _check_depth(f"tools: the schema of '{tool.function.name}'", tool.function.parameters, "tools")
    schemas = [] if choice == "none" else [msgspec.to_builtins(_without_nulls(tool)) for tool in request.tools]
    format = _format_constraint(model, request.response_format, terms.format)
    if choice not in ("none", "auto"):
        return Rules(schemas, _calls(model, _chosen(choice, schemas), "tool_choice"))
    if format is not None and choice == "auto":
        return Rules(schemas, _format_or_calls(model, format, schemas, terms.format))
    strict = choice == "auto" and any(tool.function.strict for tool in request.tools)
    return Rules(schemas, format, _calls(model, schemas, terms.strict) if strict else None)


def _format_or_calls(model, format, schemas, param):
    """A constraint for either the format or calls: it holds from the first token, so it must cover calls too."""
    if model.info.formats.channels:
        # After an analysis there may come a call, which is not part of the text before an answer.
        text = f"{param}: not together with tools on this model, unless tool_choice is none"
        raise Refusal(400, text, param=param)
    calls = _calls(model, schemas, param)
    return lambda: Alternatives([format().matcher, calls().matcher])


def _without_nulls(tool):
    """A tool in the form that templates expect."""
    function = {name: value for name, value in msgspec.to_builtins(tool.function).items() if value is not None}
    function.pop("strict", None)
    return {"type": "function", "function": function}


def _chosen(choice, schemas):
    if not isinstance(choice, NamedChoice):
        return schemas
    name = choice.function.name
    found = [schema for schema in schemas if schema["function"]["name"] == name]
    if not found:
        raise Refusal(400, f"tool_choice: no tool is named '{name}'", param="tool_choice")
    return found


def _calls(model, schemas, param):
    matcher = tools.native_matcher(model, schemas)
    if matcher is None:
        raise Refusal(400, f"{param}: cannot be enforced with this model: leave it out", param=param)
    return lambda: GrammarConstraint(matcher.fork())


def _check_depth(what, schema, param):
    level, depth = [schema], 0
    while level := [inner for one in level if isinstance(one, dict | list) for inner in _inside(one)]:
        depth += 1
    if depth > MOST_LEVELS:
        text = f"{what} is nested {depth} levels deep, at most {MOST_LEVELS}: move inner ones into $defs"
        raise Refusal(400, text, param=param)


def _inside(value):
    return value.values() if isinstance(value, dict) else value


def _format_constraint(model, format, param):
    match format:
        case AnyObject():
            schema = JsonSchema({"type": "object"}, strict=False)
        case SchemaFormat(json_schema=described):
            _check_depth(f"the schema '{described.name}'", described.schema, param)
            schema = JsonSchema(described.schema, strict=bool(described.strict))
        case _:
            return None
    formats = model.info.formats
    # A Choice itself waits for the end of reasoning that the cue has opened.
    behind = formats.answer_opening if formats.channels else ""
    matcher = GrammarConstraint.from_grammar(schema, model, behind=behind).matcher
    return lambda: GrammarConstraint(matcher.fork())
