"""A kernel's `.metal` file: its declarations in comments, its helpers and its body."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import mlx.core as mx

from pie_mlx.errors import InvalidTypeError, PieError

KERNEL_FOLDER = Path(__file__).parent / "kernels"

_DECLARATION = re.compile(r"^// (uses|inputs|outputs|mutates|sparse): (.*)$", re.MULTILINE)
_BODY_MARK = "\n// body\n"

ReadText = Callable[[str], str]
"""Reads a file of the kernel folder by name."""


class KernelFileError(PieError):
    """A `.metal` file lacks a declaration."""


def read_kernel_file(name: str) -> str:
    """The text of a packaged kernel file."""
    return (KERNEL_FOLDER / name).read_text()


@dataclass(frozen=True, slots=True)
class Port:
    """One declared array: its name and the element types allowed. `T` is the kernel's template type."""

    name: str
    types: tuple[str, ...]

    def check(self, kernel: str, dtype: mx.Dtype, element: mx.Dtype | None) -> None:
        """Raises InvalidTypeError unless `dtype` is one of the declared types."""
        allowed = [element if kind == "T" else getattr(mx, kind) for kind in self.types]
        if dtype not in allowed:
            raise InvalidTypeError(
                f"{kernel}: {self.name} is {dtype}, not {' or '.join(str(kind) for kind in allowed)}",
                hint="arrays are bound by name; cast before the launch",
            )


@dataclass(frozen=True, slots=True)
class KernelSource:
    """A parsed kernel. `mutates` are the inputs written in place; `sparse` outputs may stay partly undefined."""

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    mutates: tuple[str, ...]
    sparse: tuple[str, ...]
    header: str
    body: str


def _ports(text: str) -> tuple[Port, ...]:
    parts = [item.split() for item in text.split(",") if item.strip()]
    return tuple(Port(name, tuple(types.split("|"))) for name, types in parts)


def _names(text: str) -> tuple[str, ...]:
    return tuple(item.strip() for item in text.split(",") if item.strip())


def parse_kernel(name: str, read_text: ReadText = read_kernel_file) -> KernelSource:
    """Reads `<name>.metal`. Raises KernelFileError if it declares no inputs, outputs or body."""
    text = read_text(f"{name}.metal")
    declared: dict[str, str] = {}
    for key, value in _DECLARATION.findall(text):
        declared[key] = f"{declared[key]}, {value}" if key in declared else value
    if _BODY_MARK not in text or not {"inputs", "outputs"} <= declared.keys():
        raise KernelFileError(f"{name}.metal: it needs the lines '// inputs:', '// outputs:' and '// body'")
    helpers, body = text.split(_BODY_MARK, 1)
    used = "".join(read_text(file) for file in _names(declared.get("uses", "")))
    return KernelSource(
        name=f"pie_{name}",
        inputs=_ports(declared["inputs"]),
        outputs=_ports(declared["outputs"]),
        mutates=_names(declared.get("mutates", "")),
        sparse=_names(declared.get("sparse", "")),
        header=used + helpers + "\n",
        body=body,
    )
