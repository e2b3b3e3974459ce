"""Launches kernels on the Metal device or the emulator."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, cast

import mlx.core as mx

from pie_mlx.errors import InvalidArgumentError
from pie_mlx.metal.emulator import Emulator
from pie_mlx.metal.kernel import KernelSource, ReadText, parse_kernel, read_kernel_file
from pie_mlx.metal.record import KernelRecord

Kind = Literal["metal", "emulate"]
Size = tuple[int, int, int]
TemplateArguments = Mapping[str, int | bool | mx.Dtype]
Outputs = Mapping[str, tuple[Sequence[int], mx.Dtype]]
MakeKernel = Callable[[KernelSource], Callable[..., list[mx.array]]]

GATHER_ROWS = 128
"""Rows from which gathering is assumed to be faster, until a device has measured it."""
MERGED_INTO = {"attention_merge": "paged_attention"}
"""Kernels that run only after another one. If one is disabled, so is the other."""


@dataclass(frozen=True)
class KernelLauncher:
    """Launches kernels by name. Each kernel object is built once. MLX operations replace `disabled` kernels.

    For chunks of at least `gather_rows` rows of one context, MLX's own attention reads gathered pages.
    """

    kind: Kind
    make: MakeKernel
    read_text: ReadText = read_kernel_file
    disabled: frozenset[str] = frozenset()
    gather_rows: int = GATHER_ROWS
    _built: dict[str, tuple[KernelSource, Callable[..., list[mx.array]]]] = field(
        default_factory=dict[str, tuple[KernelSource, Callable[..., list[mx.array]]]]
    )

    def runs(self, name: str) -> bool:
        """Whether kernel `name` is enabled."""
        return name not in self.disabled

    @property
    def launched(self) -> frozenset[str]:
        """The kernels launched so far that are still enabled."""
        return frozenset(self._built) - self.disabled

    def without(self, kernels: Collection[str]) -> "KernelLauncher":
        """This launcher without some kernels."""
        behind = {kernel for kernel, front in MERGED_INTO.items() if front in kernels}
        return replace(self, disabled=self.disabled.union(kernels, behind))

    def launch(
        self,
        name: str,
        inputs: Mapping[str, mx.array],
        template: TemplateArguments,
        grid: Size,
        threadgroup: Size,
        outputs: Outputs,
    ) -> list[mx.array]:
        """Launches a kernel. Arrays are bound by name. Returns its outputs in declared order.

        Raises InvalidArgumentError for a missing or unknown name and InvalidTypeError for a wrong element type. Every
        error carries a note with the kernel's name. MLX reports most errors only when outputs are evaluated (see
        `faults`).
        """
        try:
            source, kernel = self._kernel(name)
            return kernel(
                inputs=_ordered(source, inputs, template),
                template=list(template.items()),
                grid=grid,
                threadgroup=threadgroup,
                output_shapes=[tuple(outputs[port.name][0]) for port in source.outputs],
                output_dtypes=[outputs[port.name][1] for port in source.outputs],
            )
        except Exception as error:
            error.add_note(f"while kernel {name} was launched")
            raise

    def _kernel(self, name: str) -> tuple[KernelSource, Callable[..., list[mx.array]]]:
        if name not in self._built:
            source = parse_kernel(name, self.read_text)
            self._built[name] = (source, self.make(source))
        return self._built[name]


def _ordered(source: KernelSource, inputs: Mapping[str, mx.array], template: TemplateArguments) -> list[mx.array]:
    declared = [port.name for port in source.inputs]
    if set(declared) != set(inputs):
        raise InvalidArgumentError(
            f"{source.name}: expected the arrays {sorted(declared)}, got {sorted(inputs)}",
            hint="the '// inputs:' line of the .metal file is the contract",
        )
    element = template.get("T")
    for port in source.inputs:
        port.check(source.name, inputs[port.name].dtype, element if isinstance(element, mx.Dtype) else None)
    return [inputs[name] for name in declared]


def _metal_kernel(source: KernelSource) -> Callable[..., list[mx.array]]:
    make = cast("Callable[..., Callable[..., list[mx.array]]]", mx.fast.metal_kernel)
    return make(
        name=source.name,
        input_names=[port.name for port in source.inputs],
        output_names=[port.name for port in source.outputs],
        source=source.body,
        header=source.header,
    )


def metal_launcher() -> KernelLauncher:
    """Kernels on the Apple GPU."""
    return KernelLauncher("metal", _metal_kernel)


def emulator_launcher(emulator: Emulator, read_text: ReadText = read_kernel_file) -> KernelLauncher:
    """Kernels on the emulator; `read_text` may supply changed kernel files."""

    def make(source: KernelSource) -> Callable[..., list[mx.array]]:
        return emulator.metal_kernel(
            name=source.name,
            input_names=[port.name for port in source.inputs],
            output_names=[port.name for port in source.outputs],
            source=source.body,
            header=source.header,
            mutable_inputs=source.mutates,
            sparse_outputs=source.sparse,
        )

    return KernelLauncher("emulate", make, read_text)


def with_record(launcher: KernelLauncher, record: KernelRecord) -> KernelLauncher:
    """The launcher without the kernels that fail here, and with the measured threshold."""
    rows = record.gather_rows or launcher.gather_rows
    return replace(launcher.without(record.failing), gather_rows=rows)
