"""The package transformers, as far as loading a tokenizer needs it.

Its `__init__`, and that of its models, read the source of every model that it knows: a third of what an engine takes to
start. Here each runs only where a name is asked for that is not known."""

import sys
from functools import partial
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any

_PACKAGE, _MODELS = "transformers", "transformers.models"
_FAMILIES = {
    "Cohere": "cohere",
    "Gemma": "gemma",
    "GPT2": "gpt2",
    "GPTNeoX": "gpt_neox",
    "Llama": "llama",
    "Qwen2": "qwen2",
}
"""Tokenizers that models of today name, whose fast kind is the only one."""

_HOMES = {
    "AutoTokenizer": (f"{_MODELS}.auto.tokenization_auto", "AutoTokenizer"),
    "PreTrainedTokenizer": (f"{_PACKAGE}.tokenization_python", "PreTrainedTokenizer"),
    "PreTrainedTokenizerFast": (f"{_PACKAGE}.tokenization_utils_tokenizers", "PreTrainedTokenizerFast"),
} | {
    f"{family}Tokenizer{kind}": (f"{_MODELS}.{module}.tokenization_{module}", f"{family}Tokenizer")
    for family, module in _FAMILIES.items()
    for kind in ("", "Fast")
}
"""Where a name of the package is found: a module, and the name there."""


def import_by_name() -> None:
    """From now on, importing one of the known names imports no more than its module needs. Does nothing where
    transformers is imported already, or not installed."""
    if _PACKAGE in sys.modules or find_spec(_PACKAGE) is None:
        return
    _stand_in(_PACKAGE).__version__ = version(_PACKAGE)
    _stand_in(_MODELS)


def _stand_in(name: str) -> Any:
    """A package that has not run its `__init__`; its modules are found as ever."""
    spec = find_spec(name)
    assert spec is not None
    package: Any = module_from_spec(spec)
    package.__getattr__ = partial(_remembered, package)
    sys.modules[name] = package
    return package


def _remembered(package: ModuleType, name: str) -> Any:
    value = _attribute(package, name)
    setattr(package, name, value)
    return value


def _attribute(package: ModuleType, name: str) -> Any:
    if name.startswith("__") and name != "__all__":  # what Python asks of any module
        raise AttributeError(f"module {package.__name__!r} has no attribute {name!r}")
    if package.__name__ == _PACKAGE and name in _HOMES:
        module, known = _HOMES[name]
        try:
            return getattr(import_module(module), known)
        except (ImportError, AttributeError):  # another version may keep it elsewhere
            pass
    return getattr(_whole(package), name)


def _whole(package: ModuleType) -> ModuleType:
    """The same package after its `__init__`."""
    if sys.modules.get(package.__name__) is package:
        del sys.modules[package.__name__]
    return import_module(package.__name__)
