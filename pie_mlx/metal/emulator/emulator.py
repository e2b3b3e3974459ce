"""The emulator: `metal_kernel` with the call of `mx.fast.metal_kernel`, run on a CPU."""

# MLX's stubs leave variable arguments untyped.
# pyright: reportUnknownMemberType=false

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np

from pie_mlx.errors import InvalidArgumentError
from pie_mlx.metal.emulator import launch, memory
from pie_mlx.metal.emulator.address_spaces import check_types
from pie_mlx.metal.emulator.build import Builder, executable_source
from pie_mlx.metal.emulator.launch import LaunchReport
from pie_mlx.metal.emulator.source import Argument, GeneratedSource, Template, generate_source

MAX_BUFFERS = 31
MAX_THREADS = 1024


@dataclass(frozen=True, slots=True)
class Access:
    """One launch: its inputs by name, its outputs in order, and what it did to each element of each array, uint8 of
    launch.READ and launch.WRITTEN bits."""

    kernel: str
    inputs: Mapping[str, mx.array]
    outputs: Sequence[mx.array]
    touched: Mapping[str, memory.Array]


@dataclass
class Emulator:
    """Builds and runs kernels.

    `on_launch` receives the report of every launch, `on_access` what it read and wrote. Elements of inputs count as
    written unless `assume` says otherwise; outputs and threadgroup memory start unwritten.
    """

    builder: Builder
    on_launch: Callable[[LaunchReport], None] | None = None
    on_access: Callable[[Access], None] | None = None
    _initialised: dict[str, memory.Array] = field(default_factory=dict[str, memory.Array])
    _libraries: dict[str, Path] = field(default_factory=dict[str, Path])

    def metal_kernel(
        self,
        name: str,
        input_names: Sequence[str],
        output_names: Sequence[str],
        source: str,
        header: str = "",
        ensure_row_contiguous: bool = True,
        atomic_outputs: bool = False,
        compile_options: Mapping[str, str] | None = None,
        mutable_inputs: Sequence[str] = (),
        sparse_outputs: Sequence[str] = (),
    ) -> "EmulatedKernel":
        """Like `mx.fast.metal_kernel`. In addition, `mutable_inputs` may be written and `sparse_outputs` left
        undefined."""
        if atomic_outputs or not ensure_row_contiguous:
            raise InvalidArgumentError(
                f"metal emulator: {name}: atomic outputs and strided inputs are not emulated",
                hint="pass row-contiguous arrays and write each output element once",
            )
        names = (tuple(input_names), tuple(output_names), tuple(mutable_inputs), tuple(sparse_outputs))
        return EmulatedKernel(self, name, *names, source, header)

    @contextmanager
    def assume(self, **initialised: Any) -> Generator[None]:
        """Inside the block, elements of the named inputs count as unwritten where the boolean array is false."""
        self._initialised = {name: np.ascontiguousarray(known, np.uint8) for name, known in initialised.items()}
        try:
            yield
        finally:
            self._initialised = {}

    def known_elements(self, name: str) -> memory.Array | None:
        """The map `assume` gave for an input."""
        return self._initialised.get(name)

    @property
    def specialisations(self) -> frozenset[str]:
        """The sources run so far: Metal would have compiled each of them once."""
        return frozenset(self._libraries)

    def library(self, source: GeneratedSource) -> Path:
        """The compiled kernel. Its types are checked before the first build."""
        found = self._libraries.get(source.text)
        if found is None:
            if find_spec("clang") is not None:
                check_types(source)
            found = self._libraries[source.text] = self.builder.build(executable_source(source))
        return found


@dataclass(frozen=True)
class EmulatedKernel:
    """One kernel; called like the object `mx.fast.metal_kernel` returns."""

    emulator: Emulator
    name: str
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    mutable_inputs: tuple[str, ...]
    sparse_outputs: tuple[str, ...]
    source: str
    header: str

    def __call__(
        self,
        *,
        inputs: Sequence[mx.array],
        grid: launch.Size,
        threadgroup: launch.Size,
        output_shapes: Sequence[Sequence[int]],
        output_dtypes: Sequence[mx.Dtype],
        template: Template = (),
        stream: Any = None,
    ) -> list[mx.array]:
        """Evaluate the inputs, run, return the outputs. Raises KernelDefectError, MetalTypeError, EmulatorError."""
        self._check_call(inputs, grid, threadgroup, output_shapes)
        mx.eval(*inputs)
        given = [Argument(n, a.dtype, a.shape) for n, a in zip(self.input_names, inputs, strict=True)]
        shapes = zip(self.output_names, output_shapes, output_dtypes, strict=True)
        wanted = [Argument(name, dtype, tuple(shape)) for name, shape, dtype in shapes]
        source = generate_source(self.name, given, wanted, self.source, self.header, template)
        self._check_slots(source)
        outputs = [memory.empty_output(item.shape, item.dtype) for item in wanted]
        mutable = [name in self.mutable_inputs for name in self.input_names] + [True] * len(outputs)
        placed = memory.place([memory.host_view(item) for item in inputs] + outputs, mutable)
        bindings = self._bindings(source, given + wanted, placed, mutable)
        library = self.emulator.library(source)
        report = launch.run(library, self.name, source.function, bindings, grid, threadgroup)
        for item in placed:
            item.write_back()
        self._check_outputs(report)
        if self.emulator.on_launch is not None:
            self.emulator.on_launch(report)
        made = [memory.device_array(output, item.dtype) for output, item in zip(outputs, wanted, strict=True)]
        if self.emulator.on_access is not None:
            touched = {binding.name: binding.touched for binding in bindings if binding.touched is not None}
            named = zip(self.input_names, inputs, strict=True)
            self.emulator.on_access(Access(self.name, dict(named), made, touched))
        return made

    def _check_call(
        self, inputs: Sequence[mx.array], grid: launch.Size, threadgroup: launch.Size, shapes: Sequence[Sequence[int]]
    ) -> None:
        if len(inputs) != len(self.input_names) or len(shapes) != len(self.output_names):
            raise InvalidArgumentError(
                f"{self.name}: {len(inputs)} inputs and {len(shapes)} outputs were given, "
                f"{len(self.input_names)} and {len(self.output_names)} are declared"
            )
        if any(part < 1 or total < 1 or total % part for total, part in zip(grid, threadgroup, strict=True)):
            raise InvalidArgumentError(
                f"{self.name}: grid {grid} is not a whole number of threadgroups {threadgroup}",
                hint="the grid counts threads; round it up and check bounds in the kernel",
            )
        if threadgroup[0] * threadgroup[1] * threadgroup[2] > MAX_THREADS:
            raise InvalidArgumentError(f"{self.name}: threadgroup {threadgroup} exceeds {MAX_THREADS} threads")

    def _check_slots(self, source: GeneratedSource) -> None:
        if len(source.parameters) > MAX_BUFFERS:
            raise InvalidArgumentError(
                f"{self.name}: {len(source.parameters)} buffers, at most {MAX_BUFFERS} can be bound"
            )

    def _bindings(
        self,
        source: GeneratedSource,
        arguments: Sequence[Argument],
        placed: Sequence[memory.Placed],
        mutable: Sequence[bool],
    ) -> list[launch.Binding]:
        by_name = {item.name: index for index, item in enumerate(arguments)}
        bindings: list[launch.Binding] = []
        for parameter in source.parameters:
            index = by_name[parameter.argument]
            data = placed[index].memory
            if parameter.part in ("shape", "strides", "ndim"):
                bindings.append(launch.Binding(parameter.name, _metadata(data, parameter.part), False))
            else:
                known = self._initialised(parameter.argument, data, parameter.part == "output")
                touched = None if self.emulator.on_access is None else np.zeros(data.size, np.uint8)
                bindings.append(launch.Binding(parameter.name, data, mutable[index], known, touched))
        return bindings

    def _initialised(self, name: str, data: memory.Array, output: bool) -> memory.Array | None:
        if output:
            return np.zeros(data.size, np.uint8)
        known = self.emulator.known_elements(name)
        if known is not None and known.size != data.size:
            raise InvalidArgumentError(f"{self.name}: the map of {name} has {known.size} of {data.size} elements")
        return known

    def _check_outputs(self, report: LaunchReport) -> None:
        for name in self.output_names:
            undefined = report.traffic[name].undefined
            if undefined and name not in self.sparse_outputs:
                raise launch.KernelDefectError(
                    f"{self.name}: unwritten output: {undefined} elements of {name} were never written",
                    hint="write every element, or declare the output sparse",
                    defect="unwritten_output",
                )


def _metadata(data: memory.Array, part: str) -> memory.Array:
    if part == "shape":
        return np.array(data.shape, dtype=np.int32)
    if part == "strides":
        return np.array([stride // data.itemsize for stride in data.strides], dtype=np.int64)
    return np.array([data.ndim], dtype=np.int32)
