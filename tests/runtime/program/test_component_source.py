"""What is no component is refused before anything is compiled."""

import pytest

from pie_mlx.errors import LaunchError
from pie_mlx.runtime.program.component_source import LIMIT_BYTES, read_component

COMPONENT = b"\0asm\x0d\0\1\0"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\0asm\1\0\0\0", "a core module of WebAssembly, not a component"),
        (b"\0asm\x0a\0\1\0", "another format"),
        (b"(component)", "not WebAssembly"),
        (b"", "not WebAssembly"),
    ],
)
def test_a_file_that_is_no_component_is_refused(tmp_path, data, words):
    file = tmp_path / "main.wasm"
    file.write_bytes(data)
    with pytest.raises(LaunchError, match=words):
        read_component(file)


def test_a_component_of_200_mb_is_refused(tmp_path):
    file = tmp_path / "main.wasm"
    with open(file, "wb") as opened:
        opened.write(COMPONENT)
        opened.truncate(200 << 20)
    with pytest.raises(LaunchError, match=f"200 MiB, the limit for components is {LIMIT_BYTES >> 20} MiB"):
        read_component(file)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(LaunchError, match=r"none\.wasm: No such file"):
        read_component(tmp_path / "none.wasm")


def test_a_component_has_no_text(tmp_path):
    file = tmp_path / "main.wasm"
    file.write_bytes(COMPONENT)
    assert read_component(file) == ""
