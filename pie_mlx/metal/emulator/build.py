"""Translates generated Metal source to C++ and compiles it with the system's compiler, once per content."""

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pie_mlx.errors import PieError
from pie_mlx.metal.emulator.source import ATTRIBUTES, GeneratedSource, Parameter

_ATTRIBUTE = re.compile(r"\[\[[^\]]*\]\]")
_ARRAY = re.compile(r"\bthreadgroup\s+([\w:]+(?:<[^;<>]*>)?)\s+(\w+)((?:\[[^\];]+\])+)\s*;")
_INSTANCE = re.compile(r"^template \[\[host_name\(.*\n", re.MULTILINE)


def _registered_arrays(text: str) -> str:
    """Turns threadgroup arrays into memory of the runtime, which tracks their bounds and accesses."""
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
    """C++ for OpenCL, where a wrong address space is a type error. MLX's own last line instantiates the function."""
    return '#include "metal_check.hpp"\n#line 1 "kernel"\n' + _registered_arrays(_ATTRIBUTE.sub("", source.text))


RUNTIME_FOLDER = Path(__file__).parent / "runtime"

_COMMON = ("-std=c++20", "-fPIC", "-w", f"-I{RUNTIME_FOLDER}")
_KERNEL = ("-O1", "-fsanitize=thread", "--param=tsan-instrument-func-entry-exit=0", "-fno-builtin-memcpy")
_RUNTIME = ("-O2",)


class EmulatorError(PieError):
    """The emulator cannot build or run a kernel."""


def cache_folder(environment: Mapping[str, str]) -> Path:
    """The folder of compiled kernels: below $PIE_HOME, otherwise the user's cache folder."""
    if home := environment.get("PIE_HOME"):
        return Path(home) / "cache" / "metal"
    base = environment.get("XDG_CACHE_HOME") or str(Path(environment.get("HOME", "~")).expanduser() / ".cache")
    return Path(base) / "pie-mlx" / "metal"


def _digest(*parts: str) -> str:
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=12).hexdigest()


@dataclass(frozen=True)
class Builder:
    """A compiler and the folder of its results. Several processes may use it at once."""

    folder: Path
    compiler: str = "g++"

    @cached_property
    def _headers(self) -> str:
        return "".join(path.read_text() for path in sorted(RUNTIME_FOLDER.iterdir()) if path.is_file())

    def _run(self, arguments: list[str]) -> None:
        found = shutil.which(self.compiler)
        if found is None:
            raise EmulatorError(
                f"metal emulator: no C++ compiler: {self.compiler} is not on the path",
                hint="install g++ (Debian: apt install g++), or set PIE_METAL=off",
            )
        result = subprocess.run([found, *arguments], capture_output=True, text=True, check=False)
        if result.returncode:
            raise EmulatorError(
                f"metal emulator: the compiler refused the kernel: {result.stderr[:2000]}",
                hint="the emulator knows the part of Metal in runtime/metal_execute.hpp",
            )

    def _publish(self, target: Path, arguments: list[str]) -> Path:
        """Compiles to a private name, then renames: no process ever loads half a file."""
        handle, name = tempfile.mkstemp(dir=self.folder, suffix=target.suffix)
        os.close(handle)
        try:
            self._run([*arguments, "-o", name])
            os.replace(name, target)
        finally:
            Path(name).unlink(missing_ok=True)
        return target

    def _object(self) -> Path:
        target = self.folder / f"runtime-{_digest(self.compiler, self._headers)}.o"
        if target.exists():
            return target
        return self._publish(target, [*_COMMON, *_RUNTIME, "-c", str(RUNTIME_FOLDER / "runtime.cpp")])

    def build(self, text: str) -> Path:
        """The shared object of a translated kernel. Raises EmulatorError without a compiler or for bad source."""
        target = self.folder / f"kernel-{_digest(self.compiler, self._headers, text)}.so"
        if target.exists():
            return target
        self.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.folder) as scratch:
            unit = Path(scratch) / "kernel.cpp"
            unit.write_text(text)
            compiled = Path(scratch) / "kernel.o"
            self._run([*_COMMON, *_KERNEL, "-c", str(unit), "-o", str(compiled)])
            return self._publish(target, ["-shared", str(compiled), str(self._object())])
