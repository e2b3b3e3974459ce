"""Calls of the SDK that do not fit the callee's signature. Nothing is executed."""

import ast
import inspect

from pie_mlx.runtime.check.sdk_types import Class, Function, Kind, is_of_sdk
from pie_mlx.runtime.program.findings import nearest


def signature_problem(call: ast.Call, what: Kind | None) -> str:
    """Why `what` cannot be called like this; "" if it can, or if that is uncertain."""
    signature = _signature(what)
    if signature is None:
        return ""
    given = [keyword.arg for keyword in call.keywords if keyword.arg is not None]
    return _unknown(given, signature) or _unbound(call, signature, given)


def _unknown(given: list[str], signature: inspect.Signature) -> str:
    parameters = signature.parameters.values()
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        return ""
    known = [one.name for one in parameters if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)]
    wrong = next((name for name in given if name not in known), None)
    if wrong is None:
        return ""
    return f"no parameter '{wrong}'{nearest(wrong, known) or f': it has {_listed(known)}'}"


def _listed(names: list[str]) -> str:
    return ", ".join(names) or "none"


def _unbound(call: ast.Call, signature: inspect.Signature, given: list[str]) -> str:
    """Missing or excess arguments of a call without unpacking."""
    if len(given) < len(call.keywords) or any(isinstance(one, ast.Starred) for one in call.args):
        return ""
    try:
        signature.bind(*call.args, **dict.fromkeys(given))
    except TypeError as error:
        return str(error)
    return ""


def _signature(what: Kind | None) -> inspect.Signature | None:
    """The signature as programs call it, without self."""
    try:
        match what:
            case Class(cls) if is_of_sdk(cls):
                return inspect.signature(cls)
            case Function(function, owner):
                return _without_owner(inspect.signature(function), owner)
            case _:
                return None
    except (TypeError, ValueError):
        return None


def _without_owner(signature: inspect.Signature, owner: type | None) -> inspect.Signature:
    parameters = list(signature.parameters.values())
    takes_owner = owner is not None and parameters and parameters[0].name in ("self", "cls")
    return signature.replace(parameters=parameters[1:]) if takes_owner else signature
