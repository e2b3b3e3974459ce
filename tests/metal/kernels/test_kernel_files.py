"""What a kernel file declares, and where builds of them are kept."""

from pathlib import Path

import pytest

from pie_mlx.metal.emulator import cache_folder
from pie_mlx.metal.kernel import KERNEL_FOLDER, KernelFileError, parse_kernel


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
