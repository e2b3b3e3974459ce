"""Kernels with one barrier or one bounds check taken out, and the cases that must notice.

`python -m tests.metal.emulator.mutations` prints the outcome of every mutation.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import mlx.core as mx

from pie_mlx.errors import PieError
from pie_mlx.metal.checks.check_cases import AttentionCase, Case, attention_case, check_cases, scored_case
from pie_mlx.metal.emulator import Builder, Emulator, LaunchReport
from pie_mlx.metal.kernel import read_kernel_file
from pie_mlx.metal.launcher import KernelLauncher, emulator_launcher
from pie_mlx.metal.quantisation import Quantisation
from tests.metal.conftest import BUILD_FOLDER

KERNELS = (
    "kv_write",
    "kv_write_quantised",
    "paged_attention",
    "attention_merge",
    "paged_prefill",
    "page_copy",
    "page_gather",
    "page_scatter",
    "lora_batched",
    "sample_rows",
)

_BARRIER = re.compile(r"(?:threadgroup|simdgroup)_barrier\([^;]*\);")
_CHOICE = re.compile(r"\bif \(|\bbool \w+ = |; (?=row\[r\] >= 0)")
_BOUND = re.compile(r"[\w\[\].%/*+\- ()]+ (?:<|>=) [\w\[\].%/*+\- ()]+")
_STRIDED_LOOP = re.compile(r"for \([^;]*(?:thread_index|lane)[^;]*;([^;]*?)(\w+ < [\w *]+); \w+ \+=")


@dataclass(frozen=True)
class Mutation:
    """One change of one kernel file."""

    kernel: str
    line: int
    removed: str
    by: str
    text: str

    @property
    def label(self) -> str:
        return f"{self.kernel}:{self.line} {self.removed} -> {self.by or 'nothing'}"


def _replaced(kernel: str, text: str, start: int, end: int, by: str) -> Mutation:
    return Mutation(kernel, text.count("\n", 0, start) + 1, text[start:end], by, text[:start] + by + text[end:])


def _condition_end(text: str, start: int) -> int:
    """Where the condition that begins at `start` ends: at an unmatched bracket or a semicolon."""
    depth = 0
    for index in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[index], 0)
        if depth < 0 or text[index] == ";":
            return index
    return len(text)


def _bounds(text: str, start: int) -> Iterator[tuple[int, int]]:
    """Spans of the `<` and `>=` comparisons that `&&` joins."""
    end = _condition_end(text, start)
    position = start
    for part in text[start:end].split("&&"):
        stripped = part.strip()
        if _BOUND.fullmatch(stripped):
            first = position + part.index(stripped)
            yield first, first + len(stripped)
        position += len(part) + 2


def mutations(kernel: str) -> Iterator[Mutation]:
    """Every barrier and every bounds check of a kernel's body, taken out one at a time; loops run one too far."""
    text = read_kernel_file(f"{kernel}.metal")
    body = text.index("\n// body\n")
    for match in _BARRIER.finditer(text, body):
        yield _replaced(kernel, text, match.start(), match.end(), "")
    for match in _CHOICE.finditer(text, body):
        for start, end in _bounds(text, match.end()):
            yield _replaced(kernel, text, start, end, "true")
    for match in _STRIDED_LOOP.finditer(text, body):
        yield _replaced(kernel, text, match.start(2), match.end(2), f"{match.group(2)} + 1")


WITNESSES = (
    AttentionCase(key_size=80, value_size=80, rows=3, masked=True, lengths=(2, 37, 70)),
    AttentionCase(key_size=80, value_size=96, window=20, page_size=8, lengths=(1, 37, 80)),
    AttentionCase(lengths=(600, 1, 514), heads=1),
    AttentionCase(latent=True, key_size=24, value_size=16, heads=1, group=4, lengths=(1, 37, 80)),
    AttentionCase(lengths=(1100, 20), window=530, heads=1, group=5, rows=2),
)
SCORED_WITNESS = AttentionCase(key_size=24, value_size=24, heads=1, rows=3, page_size=8, lengths=(33, 1))
"""Its last tile reaches past the table, and its last window has rows to spare."""

PREFILL_WITNESSES = (
    AttentionCase(rows=20, key_size=80, value_size=80, heads=1, lengths=(9, 37)),
    AttentionCase(rows=16, window=17, masked=True, heads=1, group=1, lengths=(70,)),
    AttentionCase(rows=32, heads=1, group=1, quantisation=Quantisation(8, 32), dtype=mx.float16, lengths=(50,)),
)


@cache
def witnesses(kernel: str) -> tuple[Case, ...]:
    """The cases a mutation of `kernel` is shown."""
    if kernel in ("paged_attention", "attention_merge"):
        return (*(attention_case(case, "paged_attention") for case in WITNESSES), scored_case(SCORED_WITNESS))
    if kernel == "paged_prefill":
        return tuple(attention_case(case, kernel) for case in PREFILL_WITNESSES)
    return tuple(case for case in check_cases() if case.kernel == kernel)


@cache
def _builder() -> Builder:
    return Builder(BUILD_FOLDER)


def _backend(emulator: Emulator, mutation: Mutation | None) -> KernelLauncher:
    def read_text(name: str) -> str:
        if mutation is not None and name == f"{mutation.kernel}.metal":
            return mutation.text
        return read_kernel_file(name)

    return emulator_launcher(emulator, read_text)


def _bytes_moved(case: Case, mutation: Mutation | None) -> tuple[float, int]:
    """Relative error of a case and the device bytes it moves."""
    reports: list[LaunchReport] = []
    error = case.error(_backend(Emulator(_builder(), reports.append), mutation))
    return error, sum(report.bytes_moved for report in reports)


@cache
def _usual_bytes(kernel: str, index: int) -> int:
    return _bytes_moved(witnesses(kernel)[index], None)[1]


def caught(mutation: Mutation) -> str:
    """How the first case that notices the mutation does: a defect, a wrong result or needless bytes; empty if none."""
    for index, case in enumerate(witnesses(mutation.kernel)):
        try:
            error, moved = _bytes_moved(case, mutation)
        except PieError as defect:
            return defect.message
        if error > case.tolerance:
            return f"wrong result: error {error:.1e}"
        if moved > _usual_bytes(mutation.kernel, index):
            return f"{moved} bytes moved, {_usual_bytes(mutation.kernel, index)} suffice"
    return ""


def all_mutations() -> list[Mutation]:
    """Of every kernel."""
    return [mutation for kernel in KERNELS for mutation in mutations(kernel)]


def main() -> int:
    """Print every mutation with what caught it; the number that nothing caught."""
    survivors = 0
    for mutation in all_mutations():
        how = caught(mutation)
        survivors += not how
        print(f"{mutation.label:<90} {how[:140] or 'SURVIVED'}", flush=True)
    print(f"{survivors} survived")
    return survivors


if __name__ == "__main__":
    sys.exit(main())
