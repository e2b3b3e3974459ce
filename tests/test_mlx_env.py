"""What MLX reads from the environment when it is imported."""

import subprocess
import sys

from pie_mlx.mlx_env import set_mlx_variables


def test_a_step_over_a_large_pool_fits_one_command_buffer():
    environment: dict[str, str] = {}
    set_mlx_variables(environment, 64 << 30)
    assert int(environment["MLX_MAX_OPS_PER_BUFFER"]) == 2000
    assert int(environment["MLX_MAX_MB_PER_BUFFER"]) == 16 * 1024 + 64


def test_what_the_user_has_set_stays():
    environment = {"MLX_MAX_OPS_PER_BUFFER": "7", "MLX_MAX_MB_PER_BUFFER": "9"}
    set_mlx_variables(environment, 64 << 30)
    assert environment == {"MLX_MAX_OPS_PER_BUFFER": "7", "MLX_MAX_MB_PER_BUFFER": "9"}


def test_on_a_mac_they_are_set_before_mlx_can_be_imported():
    code = "import os, sys; sys.platform = 'darwin'; import pie_mlx; print(os.environ['MLX_MAX_OPS_PER_BUFFER'])"
    code += "; print('mlx' in sys.modules)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == ["2000", "False"]
