"""PIE_METAL and the device decide who computes."""

import pytest

from pie_mlx.backends import Backend, current_backend, using
from pie_mlx.backends.choice import choose_backend, chosen_kernels
from pie_mlx.backends.cpu import CpuBackend
from pie_mlx.backends.kernels import AppleBackend, EmulatorBackend
from pie_mlx.errors import ConfigError
from tests.backends.played import PlayedGpu


@pytest.mark.parametrize(
    ("requested", "gpu", "apple_gpu", "kernels", "kind"),
    [
        ("auto", False, False, "off", CpuBackend),
        ("off", False, False, "off", CpuBackend),
        ("emulate", False, False, "emulate", EmulatorBackend),
        ("auto", True, True, "metal", AppleBackend),
        ("off", True, True, "off", Backend),
        ("emulate", True, True, "emulate", EmulatorBackend),
        ("auto", True, False, "off", Backend),
    ],
)
def test_each_device_has_its_backend_and_kernels_only_where_they_are_wanted(
    requested: str, gpu: bool, apple_gpu: bool, kernels: str, kind: type[Backend]
) -> None:
    assert chosen_kernels(requested, apple_gpu=apple_gpu) == kernels
    assert type(choose_backend(requested, gpu=gpu, apple_gpu=apple_gpu)) is kind


def test_another_value_is_refused_with_the_choices() -> None:
    with pytest.raises(ConfigError, match="PIE_METAL=on") as caught:
        choose_backend("on", gpu=False, apple_gpu=False)
    assert "auto, emulate or off" in caught.value.hint


def test_a_backend_is_used_as_long_as_it_is_asked_for() -> None:
    before, played = current_backend(), PlayedGpu()
    with using(played):
        assert current_backend() is played
    assert current_backend() is before


def test_each_value_of_the_environment_has_one_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIE_METAL", "emulate")
    assert isinstance(current_backend(), EmulatorBackend)
    assert current_backend() is current_backend()
