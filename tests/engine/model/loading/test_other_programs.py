"""Models of other programs on this disk are found by the names they have there."""

import json
from pathlib import Path

import pytest

from pie_mlx.engine.model.loading.other_programs import stored_model, stored_models
from pie_mlx.engine.model.loading.sources import EMBEDDED, find_model, located, model_identity
from pie_mlx.errors import ModelLoadError, ModelNotFoundError

DIGEST = "ab" * 32


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("OLLAMA_MODELS", raising=False)
    return tmp_path


def environment(home: Path) -> dict[str, str]:
    return {"HOME": str(home)}


def put_ollama(root: Path, name: str, layers: object = None, digest: str = DIGEST) -> Path:
    """A model as Ollama leaves it: a manifest, and a file named by its digest."""
    manifest = root / "manifests" / name
    manifest.parent.mkdir(parents=True, exist_ok=True)
    weights = {"mediaType": "application/vnd.ollama.image.model", "digest": f"sha256:{digest}", "size": 4}
    other = {"mediaType": "application/vnd.ollama.image.template", "digest": f"sha256:{'cd' * 32}", "size": 4}
    manifest.write_text(json.dumps({"layers": [other, weights] if layers is None else layers}))
    blob = root / "blobs" / f"sha256-{digest}"
    blob.parent.mkdir(exist_ok=True)
    blob.write_bytes(b"GGUF")
    return blob


def put(directory: Path, *names: str) -> Path:
    directory.mkdir(parents=True)
    for name in names:
        (directory / name).write_bytes(b"GGUF")
    return directory


@pytest.mark.parametrize(
    ("manifest", "name"),
    [
        ("registry.ollama.ai/library/llama3.2/1b", "llama3.2:1b"),
        ("registry.ollama.ai/library/llama3.2/latest", "llama3.2"),
        ("registry.ollama.ai/somebody/model/q4", "somebody/model:q4"),
        ("hf.co/owner/model-GGUF/Q4_K_M", "hf.co/owner/model-GGUF:Q4_K_M"),
    ],
)
def test_a_model_of_ollama_has_the_name_it_has_there(manifest: str, name: str, home: Path) -> None:
    blob = put_ollama(home / ".ollama" / "models", manifest)
    found = stored_model(name, environment(home))
    assert found is not None
    assert (found.source, found.path) == ("ollama", blob)
    assert located(name, allow_download=False, progress=print) == blob


def test_ollama_may_keep_its_models_elsewhere(home: Path) -> None:
    put_ollama(home / "elsewhere", "registry.ollama.ai/library/a/b")
    found = stored_models({"HOME": str(home), "OLLAMA_MODELS": str(home / "elsewhere")})
    assert [model.name for model in found] == ["a:b"]


@pytest.mark.parametrize(
    "layers", ["text", [1, None, {}], [{"mediaType": "application/vnd.ollama.image.model", "digest": "sha256:../../x"}]]
)
def test_a_manifest_that_does_not_hold_names_no_model(layers: object, home: Path) -> None:
    put_ollama(home / ".ollama" / "models", "registry.ollama.ai/library/a/b", layers)
    assert stored_models(environment(home)) == []


def test_models_of_lm_studio_are_files_and_directories(home: Path) -> None:
    root = home / ".lmstudio" / "models"
    one = put(root / "owner" / "one-GGUF", "one-Q4_K_M.gguf", "mmproj-one.gguf")
    put(root / "owner" / "two-GGUF", "two-Q4_K_M.gguf", "two-Q8_0.gguf")
    put(root / "owner" / "mlx", "config.json", "model.safetensors")
    assert {model.name: model.path.name for model in stored_models(environment(home))} == {
        "owner/mlx": "mlx",
        "owner/one-GGUF": "one-Q4_K_M.gguf",
        "owner/two-GGUF/two-Q4_K_M.gguf": "two-Q4_K_M.gguf",
        "owner/two-GGUF/two-Q8_0.gguf": "two-Q8_0.gguf",
    }
    assert located("owner/one-GGUF", allow_download=False, progress=print) == one / "one-Q4_K_M.gguf"


def test_a_directory_with_only_a_gguf_file_is_that_file(home: Path) -> None:
    directory = put(home / "model", "a-00001-of-00002.gguf", "a-00002-of-00002.gguf", "config.json")
    assert located(str(directory), allow_download=False, progress=print).name == "a-00001-of-00002.gguf"


def test_of_several_files_in_a_directory_one_must_be_named(home: Path) -> None:
    directory = put(home / "model", "a-Q4_0.gguf", "a-Q8_0.gguf")
    with pytest.raises(ModelNotFoundError, match="has several: a-Q4_0") as raised:
        located(str(directory), allow_download=False, progress=print)
    assert raised.value.hint == f"name one: {directory}/a-Q4_0.gguf"


def test_a_file_of_a_cached_repo_is_named_by_its_quantization(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot = put(home / "hub" / "models--owner--m" / "snapshots" / ("0" * 40), "m-Q4_0.gguf", "m-Q8_0.gguf")
    refs = home / "hub" / "models--owner--m" / "refs"
    refs.mkdir()
    (refs / "main").write_text("0" * 40)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(home / "hub"))
    assert located("owner/m:q8_0", allow_download=False, progress=print) == snapshot / "m-Q8_0.gguf"
    with pytest.raises(ModelNotFoundError, match="has none of Q2_K: m-Q4_0"):
        located("owner/m:Q2_K", allow_download=False, progress=print)


def test_a_file_is_the_same_model_however_it_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = put(home / "model", "a.gguf") / "a.gguf"
    monkeypatch.chdir(home)
    assert model_identity("model/a.gguf") == model_identity(str(file)) == str(file)
    assert model_identity("pie-tiny") == str(EMBEDDED / "pie-tiny")


def test_a_file_that_is_only_called_gguf_is_refused(home: Path) -> None:
    (home / "a.gguf").write_text("no")
    with pytest.raises(ModelLoadError, match="ends too early"):
        find_model(str(home / "a.gguf"), allow_download=False, progress=print)
