"""The Metal source that `mx.fast.metal_kernel` generates, byte for byte."""

from collections.abc import Sequence
from dataclasses import dataclass

import mlx.core as mx

from pie_mlx.errors import InvalidArgumentError

TemplateValue = int | bool | mx.Dtype
Template = Sequence[tuple[str, TemplateValue]]

SMALL_BUFFER_ELEMENTS = 8
"""Inputs with fewer elements are bound in the constant address space."""

TYPE_NAMES: dict[mx.Dtype, str] = {
    mx.bool_: "bool",
    mx.uint8: "uint8_t",
    mx.uint16: "uint16_t",
    mx.uint32: "uint32_t",
    mx.uint64: "uint64_t",
    mx.int8: "int8_t",
    mx.int16: "int16_t",
    mx.int32: "int32_t",
    mx.int64: "int64_t",
    mx.float16: "float16_t",
    mx.bfloat16: "bfloat16_t",
    mx.float32: "float",
}

ATTRIBUTES: tuple[tuple[str, str], ...] = (
    ("dispatch_quadgroups_per_threadgroup", "uint"),
    ("dispatch_simdgroups_per_threadgroup", "uint"),
    ("dispatch_threads_per_threadgroup", "uint3"),
    ("grid_origin", "uint3"),
    ("grid_size", "uint3"),
    ("quadgroup_index_in_threadgroup", "uint"),
    ("quadgroups_per_threadgroup", "uint"),
    ("simdgroup_index_in_threadgroup", "uint"),
    ("simdgroups_per_threadgroup", "uint"),
    ("thread_execution_width", "uint"),
    ("thread_index_in_quadgroup", "uint"),
    ("thread_index_in_simdgroup", "uint"),
    ("thread_index_in_threadgroup", "uint"),
    ("thread_position_in_grid", "uint3"),
    ("thread_position_in_threadgroup", "uint3"),
    ("threadgroup_position_in_grid", "uint3"),
    ("threadgroups_per_grid", "uint3"),
    ("threads_per_grid", "uint3"),
    ("threads_per_simdgroup", "uint"),
    ("threads_per_threadgroup", "uint3"),
)
"""Thread attributes with their types, in the order of the signature."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One array bound to a kernel: its name, element type and shape. The shape of an input decides how it is bound."""

    name: str
    dtype: mx.Dtype
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        size = 1
        for length in self.shape:
            size *= length
        return size

    @property
    def size_class(self) -> str:
        """`s` for a scalar, `c` for a small buffer, empty for the rest."""
        if not self.shape:
            return "s"
        return "c" if self.size < SMALL_BUFFER_ELEMENTS else ""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One buffer in the signature. `part` is data, shape, strides, ndim or output."""

    name: str
    declaration: str
    cast: str
    argument: str
    part: str


@dataclass(frozen=True, slots=True)
class GeneratedSource:
    """The source for Metal's compiler, and how to call it. `instance` names the instantiated function."""

    text: str
    function: str
    instance: str
    parameters: tuple[Parameter, ...]
    attributes: tuple[tuple[str, str], ...]


def type_name(dtype: mx.Dtype) -> str:
    """Metal's name for an element type. Raises InvalidArgumentError if there is none."""
    name = TYPE_NAMES.get(dtype)
    if name is None:
        raise InvalidArgumentError(
            f"metal kernel: no element type for {dtype}", hint="cast to float32, float16, bfloat16 or an integer type"
        )
    return name


def _template_text(value: TemplateValue) -> str:
    if isinstance(value, mx.Dtype):
        return type_name(value)
    return str(int(value))


def _template_parameter(name: str, value: TemplateValue) -> str:
    kind = "typename" if isinstance(value, mx.Dtype) else "bool" if isinstance(value, bool) else "int"
    return f"{kind} {name}"


def _function_name(name: str, template: Template, inputs: Sequence[Argument], outputs: Sequence[Argument]) -> str:
    values = ["_" + _template_text(value).replace("-", "_") for _, value in template]
    types = ["_" + type_name(item.dtype) + item.size_class for item in inputs]
    results = ["_" + type_name(item.dtype) for item in outputs]
    return "custom_kernel_" + name + ("_" if template else "") + "".join(values + types + results)


def _data_parameter(item: Argument) -> Parameter:
    element = type_name(item.dtype)
    space = "constant" if item.size_class else "device"
    sign = "&" if item.size_class == "s" else "*"
    return Parameter(item.name, f"const {space} {element}{sign} {item.name}", f"const {element}", item.name, "data")


def _input_parameters(item: Argument, body: str) -> list[Parameter]:
    name = item.name
    parameters = [_data_parameter(item)]
    extras = (("shape", "const constant int*", "const int"), ("strides", "const constant int64_t*", "const int64_t"))
    for part, declaration, cast in extras:
        if f"{name}_{part}" in body:
            full = f"{name}_{part}"
            parameters.append(Parameter(full, f"{declaration} {full}", cast, name, part))
    if f"{name}_ndim" in body:
        full = f"{name}_ndim"
        parameters.append(Parameter(full, f"const constant int& {full}", "const int", name, "ndim"))
    return parameters


def _output_parameter(item: Argument) -> Parameter:
    element = type_name(item.dtype)
    return Parameter(item.name, f"device {element}* {item.name}", element, item.name, "output")


def _signature(function: str, parameters: Sequence[Parameter], attributes: Sequence[tuple[str, str]]) -> str:
    lines = [f"  {item.declaration} [[buffer({index})]]" for index, item in enumerate(parameters)]
    lines += [f"  {kind} {name} [[{name}]]" for name, kind in attributes]
    return f"[[kernel]] void {function}(\n" + ",\n".join(lines) + ") {\n"


def generate_source(
    name: str,
    inputs: Sequence[Argument],
    outputs: Sequence[Argument],
    body: str,
    header: str = "",
    template: Template = (),
) -> GeneratedSource:
    """The source of one specialisation of a kernel, equal to MLX's output with `verbose=True`."""
    function = _function_name(name, template, inputs, outputs)
    parameters = [parameter for item in inputs for parameter in _input_parameters(item, body)]
    parameters += [_output_parameter(item) for item in outputs]
    attributes = tuple(attribute for attribute in ATTRIBUTES if attribute[0] in body)
    instance, opening, closing = function, "", ""
    if template:
        opening = f"template <{', '.join(_template_parameter(*item) for item in template)}>\n"
        instance = f"{function}<{', '.join(_template_text(value) for _, value in template)}>"
        closing = f'\ntemplate [[host_name("{function}")]] [[kernel]] decltype({instance}) {instance};\n'
    text = header + opening + _signature(function, parameters, attributes) + body + "\n}\n" + closing
    return GeneratedSource(text, function, instance, tuple(parameters), attributes)
