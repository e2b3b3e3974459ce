"""The generated source is MLX's own, byte for byte."""

from collections.abc import Callable
from typing import Any

import mlx.core as mx
import pytest

from pie_mlx.errors import InvalidArgumentError
from pie_mlx.metal.checks.check_cases import Case, check_cases
from pie_mlx.metal.emulator import Argument, check_types, generate_source, printed_sources
from pie_mlx.metal.kernel import KernelSource
from pie_mlx.metal.launcher import KernelLauncher

ATTRIBUTE_BODY = "uint i = thread_position_in_grid.x + thread_index_in_simdgroup; // many_shape\n"


def tracing_backend(generated: list[str]) -> KernelLauncher:
    """Records our source of every launch and lets MLX print its own; nothing is computed."""

    def make(source: KernelSource) -> Callable[..., list[mx.array]]:
        names = [port.name for port in source.inputs], [port.name for port in source.outputs]
        kernel = mx.fast.metal_kernel(
            name=source.name, input_names=names[0], output_names=names[1], source=source.body, header=source.header
        )

        def call(**launch: Any) -> list[mx.array]:
            inputs = [Argument(n, a.dtype, a.shape) for n, a in zip(names[0], launch["inputs"], strict=True)]
            shapes = zip(names[1], launch["output_shapes"], launch["output_dtypes"], strict=True)
            outputs = [Argument(name, dtype, shape) for name, shape, dtype in shapes]
            text = generate_source(source.name, inputs, outputs, source.body, source.header, launch["template"])
            generated.append(text.text)
            return kernel(verbose=True, **launch)

        return call

    return KernelLauncher("metal", make)


def launches_of(case: Case) -> tuple[list[str], list[str]]:
    generated: list[str] = []

    def traced(_: mx.array) -> list[mx.array]:
        generated.clear()
        # In-place cases evaluate, which tracing refuses; their launch has been printed by then.
        try:
            return [actual for actual, _ in case.run(tracing_backend(generated))]
        except (ValueError, RuntimeError):
            return [mx.zeros((1,))]

    return printed_sources(traced, [mx.zeros((1,))]), generated


CASES = {f"{case.kernel}-{case.label}": case for case in check_cases()}


@pytest.mark.parametrize("name", list(CASES))
def test_source_equals_what_mlx_prints(name: str) -> None:
    printed, generated = launches_of(CASES[name])
    assert generated
    assert printed == generated


def source_of(body: str, *arguments: Argument, template: Any = ()) -> tuple[str, str]:
    outputs = [Argument("result", mx.float32, (32,))]
    kernel = mx.fast.metal_kernel(
        name="probe", input_names=[item.name for item in arguments], output_names=["result"], source=body
    )

    def traced(*inputs: mx.array) -> list[mx.array]:
        options = {"template": template} if template else {}
        return kernel(
            inputs=list(inputs), grid=(32, 1, 1), threadgroup=(32, 1, 1), output_shapes=[(32,)],
            output_dtypes=[mx.float32], verbose=True, **options,
        )  # fmt: skip

    inputs = [mx.zeros(item.shape, item.dtype) for item in arguments]
    ours = generate_source("probe", arguments, outputs, body, template=template).text
    return printed_sources(traced, inputs)[0], ours


@pytest.mark.parametrize("shape", [(), (1,), (7,), (8,), (2, 4), (3, 3)])
@pytest.mark.parametrize("dtype", [mx.float32, mx.float16, mx.bfloat16, mx.int32, mx.uint8, mx.bool_, mx.int64])
def test_size_class_and_type_decide_how_an_input_is_bound(dtype: mx.Dtype, shape: tuple[int, ...]) -> None:
    printed, ours = source_of(ATTRIBUTE_BODY, Argument("data", dtype, shape))
    assert printed == ours


def test_a_longer_name_that_ends_alike_binds_a_shape_by_accident() -> None:
    printed, ours = source_of(ATTRIBUTE_BODY, Argument("many", mx.float32, (9,)), Argument("any", mx.float32, (9,)))
    assert printed == ours
    assert "any_shape" in ours.split("{")[0].replace("many_shape", "")


def test_negative_and_boolean_template_values_enter_the_name() -> None:
    template = [("T", mx.float16), ("N", -3), ("FLAG", True), ("WIDE", False)]
    printed, ours = source_of(ATTRIBUTE_BODY, Argument("data", mx.float32, (9,)), template=template)
    assert printed == ours


def test_every_attribute_is_added_once_in_mlx_order() -> None:
    body = (
        "uint a = threads_per_threadgroup.x + dispatch_threads_per_threadgroup.x + threads_per_grid.x + grid_size.x;\n"
    )
    printed, ours = source_of(body, Argument("data", mx.float32, (9,)))
    assert printed == ours


def test_an_element_type_metal_lacks_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="no element type"):
        generate_source("probe", [Argument("data", mx.complex64, (9,))], [], "")


def test_the_type_check_accepts_our_generated_source() -> None:
    body = ATTRIBUTE_BODY + "result[i] = data[i];\n"
    check_types(
        generate_source("probe", [Argument("data", mx.float16, (32,))], [Argument("result", mx.float32, (32,))], body)
    )
