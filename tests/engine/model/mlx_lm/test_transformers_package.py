"""transformers is imported name by name."""

import json
import subprocess
import sys

import pytest

from pie_mlx.engine.model.mlx_lm.transformers_package import import_by_name

_SCRIPT = """
import json, sys
from pie_mlx.engine.model.mlx_lm.transformers_package import import_by_name

import_by_name()
import transformers
from transformers import AutoTokenizer, LlamaTokenizerFast, PreTrainedTokenizer, PreTrainedTokenizerFast, Qwen2Tokenizer

known = {one.__name__: one for one in (AutoTokenizer, PreTrainedTokenizer, PreTrainedTokenizerFast, Qwen2Tokenizer)}
known |= {"LlamaTokenizerFast": LlamaTokenizerFast}
read_early = "transformers.dependency_versions_check" in sys.modules
by_name, early = transformers.__version__, sys.modules["transformers"]
config = transformers.LlamaConfig.__name__
whole = sys.modules["transformers"]
print(json.dumps({
    "read early": read_early,
    "unknown": config,
    "versions": [by_name, whole.__version__],
    "same": {name: getattr(whole, name) is one for name, one in known.items()},
    "models": transformers.models.llama.LlamaConfig.__name__,
    "missing": [hasattr(early, name) for name in ("NoSuchName", "__wrapped__")],
}))
"""


@pytest.fixture(scope="module")
def seen():
    ended = subprocess.run([sys.executable, "-c", _SCRIPT], capture_output=True, text=True, check=True)
    return json.loads(ended.stdout)


def test_known_names_are_imported_without_reading_all_models(seen):
    assert not seen["read early"]


def test_known_names_are_what_the_whole_package_has(seen):
    assert len(seen["same"]) == 5
    assert all(seen["same"].values())


def test_an_unknown_name_is_that_of_the_whole_package(seen):
    assert seen["unknown"] == seen["models"] == "LlamaConfig"
    assert seen["missing"] == [False, False]


def test_the_version_is_that_of_the_whole_package(seen):
    one, other = seen["versions"]
    assert one == other


def test_a_package_that_is_there_already_stays():
    import transformers

    before = sys.modules["transformers"]
    import_by_name()
    assert sys.modules["transformers"] is before
    assert transformers.__version__
