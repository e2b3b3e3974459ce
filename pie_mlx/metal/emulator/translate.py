"""From generated Metal source to C++ that a CPU compiler takes: same statements, no attributes, registered arrays."""

import re

from pie_mlx.metal.emulator.source import ATTRIBUTES, GeneratedSource, Parameter

_ATTRIBUTE = re.compile(r"\[\[[^\]]*\]\]")
_ARRAY = re.compile(r"\bthreadgroup\s+([\w:]+(?:<[^;<>]*>)?)\s+(\w+)((?:\[[^\];]+\])+)\s*;")
_INSTANCE = re.compile(r"^template \[\[host_name\(.*\n", re.MULTILINE)


def _registered_arrays(text: str) -> str:
    """Threadgroup arrays become memory of the runtime, which knows their bounds and who touched them."""
    count = 0

    def replace(match: re.Match[str]) -> str:
        nonlocal count
        element, name, bounds = match.groups()
        count += 1
        size = f"sizeof({name}_array), sizeof({element})"
        memory = f'emulator_threadgroup({count - 1}, "{name}", {size})'
        return (
            f"typedef {element} {name}_array{bounds}; "
            f"threadgroup {name}_array& {name} = *(threadgroup {name}_array*){memory};"
        )

    return _ARRAY.sub(replace, text)


def _bound(index: int, parameter: Parameter) -> str:
    scalar = "&" in parameter.declaration
    return f"{'*' if scalar else ''}({parameter.cast}*)emulator_base({index})"


def _entry(source: GeneratedSource) -> str:
    order = {name: index for index, (name, _) in enumerate(ATTRIBUTES)}
    arguments = [_bound(index, parameter) for index, parameter in enumerate(source.parameters)]
    arguments += [f"attribute{'3' if kind == 'uint3' else '1'}({order[name]})" for name, kind in source.attributes]
    call = ",\n    ".join(arguments)
    return f'extern "C" void emulator_entry() {{\n  {source.instance}(\n    {call});\n}}\n'


def executable_source(source: GeneratedSource) -> str:
    """C++ to compile with -fsanitize=thread and link with the runtime."""
    text = _ATTRIBUTE.sub("", _INSTANCE.sub("", source.text))
    return '#include "metal_execute.hpp"\n#line 1 "kernel"\n' + _registered_arrays(text) + _entry(source)


def checkable_source(source: GeneratedSource) -> str:
    """C++ for OpenCL, in which a wrong address space is a type error. MLX's own last line instantiates the function."""
    return '#include "metal_check.hpp"\n#line 1 "kernel"\n' + _registered_arrays(_ATTRIBUTE.sub("", source.text))
