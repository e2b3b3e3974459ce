"""Every benchmark runs: a change of what it measures must not leave it behind."""

from importlib import import_module
from pathlib import Path

import pytest

import benchmarks
from benchmarks import decode

HELPERS = {
    "__init__",
    "attackers",  # run by `hostile`
    "draft_pairs",
    "driving",
    "market_rivals",  # run by `market`
    "random_hybrid",  # written by `decode`
    "random_llama",
    "resident",
    "schema_types",
    "small_disk",
    "soak_store",  # used by `soak`
    "tiny_encoders",
    "tiny_models",
}
ELSEWHERE = {"hostile", "soak"}
"""tests/hostile/test_throughput.py and tests/e2e/test_soak.py look at what these two find."""

FILES = {path.stem for path in Path(benchmarks.__file__).parent.glob("*.py")}


@pytest.mark.parametrize("name", sorted(FILES - HELPERS - ELSEWHERE))
def test_each_benchmark_prints_a_table(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    benchmark = import_module(f"benchmarks.{name}")
    benchmark.main(benchmark.SMOKE)
    assert len(capsys.readouterr().out.splitlines()) > 1


def test_a_hybrid_is_compared_too(capsys: pytest.CaptureFixture[str]) -> None:
    decode.main([*decode.SMOKE, "--model-type", "lfm2"])
    assert "random lfm2" in capsys.readouterr().out
