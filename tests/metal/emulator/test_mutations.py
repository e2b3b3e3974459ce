"""No barrier and no bounds check of any kernel can go without a case noticing."""

import pytest

from pie_mlx.metal.kernel import KERNEL_FOLDER
from tests.metal.emulator.mutations import KERNELS, Mutation, all_mutations, caught


@pytest.mark.parametrize("mutation", all_mutations(), ids=lambda mutation: mutation.label)
def test_a_kernel_without_one_of_its_guards_is_caught(mutation: Mutation) -> None:
    assert caught(mutation)


def test_every_kernel_is_mutated() -> None:
    files = {path.stem for path in KERNEL_FOLDER.glob("*.metal")}
    helpers = {"chunks", "rows", "softmax"}
    assert files - helpers == set(KERNELS)


def test_every_barrier_is_among_the_mutations() -> None:
    written = sum(path.read_text().count("_barrier(mem_flags") for path in KERNEL_FOLDER.glob("*.metal"))
    assert sum("barrier" in mutation.removed for mutation in all_mutations()) == written
