"""Type check of generated Metal source under the address-space rules of the Metal language, through libclang."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from pie_mlx.errors import PieError
from pie_mlx.metal.emulator.build import RUNTIME_FOLDER, checkable_source
from pie_mlx.metal.emulator.source import GeneratedSource

_FLAGS = (
    *("-x", "clcpp", "-target", "spir64-unknown-unknown", "-cl-std=clc++2021", "-cl-no-stdinc"),
    *("-Xclang", "-cl-ext=+all", "-Xclang", "-fno-builtin", "-w", f"-I{RUNTIME_FOLDER}"),
)
_ERROR_SEVERITY = 3


class MetalTypeError(PieError):
    """A kernel breaks Metal's type rules: a missing or wrong address space, a const violation, an unknown name."""


def _index() -> Any:
    try:
        from clang.cindex import Index  # pyright: ignore
    except ImportError as error:
        raise PieError("metal type check: libclang is not installed", hint="pip install libclang") from error
    return Index.create()  # pyright: ignore


def _generic_pointers(cursor: Any, file: str) -> Iterator[str]:
    """Pointers and references without an address space: OpenCL treats them as generic, Metal rejects them."""
    for child in cursor.get_children():
        place = child.location
        if place.file is not None and place.file.name != file:
            continue
        if "__generic" in child.type.spelling and child.kind.is_declaration():
            yield f"line {place.line}: {child.spelling} needs an address space ({child.type.spelling})"
        yield from _generic_pointers(child, file)


@lru_cache(maxsize=1024)  # each emulator asks again
def check_types(source: GeneratedSource) -> None:
    """Parses the source as C++ for OpenCL. Raises MetalTypeError with the first diagnostics."""
    name = "kernel.cpp"
    unit = _index().parse(name, args=list(_FLAGS), unsaved_files=[(name, checkable_source(source))])
    errors = [str(item) for item in unit.diagnostics if item.severity >= _ERROR_SEVERITY]
    errors += _generic_pointers(unit.cursor, name)
    if errors:
        raise MetalTypeError(
            f"metal type check: {source.function}: {'; '.join(errors[:3])}",
            hint="declare every pointer with the address space of its target",
        )
