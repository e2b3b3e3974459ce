"""What a program asks for when it launches another."""

from dataclasses import dataclass

from pie_mlx.runtime.program.parameters import Input
from pie_mlx.runtime.program.program import Program


@dataclass(frozen=True, slots=True)
class ChildRequest:
    """`parent` is the process that asks, `process_id` what the child will be called."""

    program: Program
    input: Input
    username: str
    parent: str
    process_id: str
