"""The tree of errors as JavaScript classes."""

import inspect
import re
from collections.abc import Iterator
from types import UnionType

from pie_mlx import errors
from pie_mlx.errors import PieError
from tools.javascript.files import GENERATED, comment

_BASE = """\
/** Base of every error of pie-mlx. The message says what and why, the hint what to do. */
export class PieError extends Error {
  static code = 'pie';

  /**
   * @param {string} message
   * @param {{ hint?: string, details?: Record<string, string | number | boolean | null> }} [more]
   */
  constructor(message, { hint = '', details = {} } = {}) {
    super(message);
    /** What to do. */
    this.hint = hint;
    /** More facts, by the names that cross the wire. */
    this.details = details;
  }

  /** The kind of error, such as `out_of_pages`: the same in every language and version. */
  get code() {
    return /** @type {typeof PieError} */ (this.constructor).code;
  }

  get name() {
    return this.constructor.name;
  }
}
"""

_END = """\
const CLASSES = new Map([{names}].map((kind) => [kind.code, kind]));

/**
 * The error of a reply; an unknown code of a newer engine becomes a plain PieError.
 * @param {{string}} code
 * @param {{string}} message
 * @param {{string}} [hint]
 * @param {{Record<string, string | number | boolean | null>}} [details]
 * @returns {{PieError}}
 */
export function errorFromCode(code, message, hint = '', details = {{}}) {{
  return new (CLASSES.get(code) ?? PieError)(message, {{ hint, details }});
}}
"""

_TYPES: dict[object, str] = {int: "number", str: "string", float: "number", bool: "boolean"}


def errors_module() -> str:
    """`errors.mjs`: a class for each error, and the error of a code."""
    kinds = list(_kinds())
    names = "".join(f"\n  {kind.__name__}," for kind in kinds)
    return "\n".join([GENERATED, _BASE, *map(_class, kinds), _END.format(names=f"{names}\n")])


def _kinds() -> Iterator[type[PieError]]:
    """All classes but the base, in the order of the source: each after its base."""
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, PieError) and kind is not PieError:
            yield kind


def _class(kind: type[PieError]) -> str:
    base = next(parent for parent in kind.__bases__ if issubclass(parent, PieError))
    head = f"{comment(inspect.getdoc(kind) or '')}\nexport class {kind.__name__} extends {base.__name__} {{"
    getters = (_getter(name, known) for name, known in inspect.get_annotations(kind).items())
    return "\n".join([head, f"  static code = '{kind.code}';", *getters, "}\n"])


def _getter(name: str, known: object) -> str:
    value = f"return /** @type {{{_type(known)}}} */ (this.details.{name});"
    return f"  get {_camel_case(name)}() {{\n    {value}\n  }}"


def _type(known: object) -> str:
    if isinstance(known, UnionType):
        return " | ".join(map(_type, known.__args__))
    return "null" if known is type(None) else _TYPES[known]


def _camel_case(name: str) -> str:
    return re.sub(r"_(.)", lambda found: found[1].upper(), name)
