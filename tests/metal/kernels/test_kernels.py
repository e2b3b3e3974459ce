"""Every kernel against its reference over the grid of check_cases."""

import pytest

from pie_mlx.metal.checks.check_cases import Case, check_cases
from pie_mlx.metal.launcher import KernelLauncher


@pytest.mark.parametrize("case", list(check_cases()), ids=lambda case: f"{case.kernel}-{case.label}")
def test_kernel_agrees_with_its_reference(case: Case, launcher: KernelLauncher) -> None:
    assert case.error(launcher) <= case.tolerance
