"""PIE_METAL and what a kernel file declares."""

from pathlib import Path

import mlx.core as mx
import pytest

from pie_mlx.errors import ConfigError, InvalidArgumentError
from pie_mlx.metal.choice import choose_backend
from pie_mlx.metal.emulator import cache_folder
from pie_mlx.metal.kernel import KERNEL_FOLDER, KernelFileError, parse_kernel

CPU = mx.Device(mx.cpu)


def test_without_an_apple_gpu_auto_means_mlx_operations() -> None:
    assert choose_backend({}, CPU).kind == "off"
    assert choose_backend({"PIE_METAL": "auto"}, CPU).kind == "off"


def test_the_emulator_and_off_are_chosen_by_name(tmp_path: Path) -> None:
    assert choose_backend({"PIE_METAL": "emulate", "PIE_HOME": str(tmp_path)}, CPU).kind == "emulate"
    assert choose_backend({"PIE_METAL": "off"}, CPU).kind == "off"


def test_another_value_is_refused_with_the_choices() -> None:
    with pytest.raises(ConfigError, match="PIE_METAL=on") as caught:
        choose_backend({"PIE_METAL": "on"}, CPU)
    assert "auto, emulate or off" in caught.value.hint


def test_a_kernel_cannot_be_launched_when_kernels_are_off() -> None:
    backend = choose_backend({"PIE_METAL": "off"}, CPU)
    assert not backend.runs("kv_write")
    with pytest.raises(InvalidArgumentError, match="off here"):
        backend.launch("kv_write", {}, {}, (1, 1, 1), (1, 1, 1), {})


def test_builds_are_kept_below_pie_home_or_the_users_cache(tmp_path: Path) -> None:
    assert cache_folder({"PIE_HOME": "/p", "XDG_CACHE_HOME": "/x"}) == Path("/p/cache/metal")
    assert cache_folder({"XDG_CACHE_HOME": "/x", "HOME": "/h"}) == Path("/x/pie-mlx/metal")
    assert cache_folder({"HOME": "/h"}) == Path("/h/.cache/pie-mlx/metal")


@pytest.mark.parametrize("path", sorted(KERNEL_FOLDER.glob("*.metal")), ids=lambda path: path.stem)
def test_every_kernel_file_says_what_it_is(path: Path) -> None:
    text = path.read_text()
    assert text.startswith("// ")
    if "\n// body\n" in text:
        source = parse_kernel(path.stem)
        assert {"Template:", "Grid", "Traffic:"} <= {word for word in ("Template:", "Grid", "Traffic:") if word in text}
        assert set(source.mutates) <= {port.name for port in source.inputs}
        assert set(source.sparse) <= {port.name for port in source.outputs}


def test_a_kernel_file_without_declarations_is_refused() -> None:
    with pytest.raises(KernelFileError, match="inputs"):
        parse_kernel("empty", lambda name: "// nothing\n")
