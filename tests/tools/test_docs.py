import pytest

from pie_mlx.engine.policies import ReasonKind
from tools.docs import FOLDER, PAGES, WAITS, architecture_lines, page


@pytest.mark.parametrize("name", PAGES)
def test_the_reference_says_what_the_code_does(name):
    written = (FOLDER / name).read_text(encoding="utf-8")
    assert written == page(name), "write it again with: python -m tools.docs"


def test_a_tier_that_is_not_described_is_not_left_out_in_silence(monkeypatch):
    monkeypatch.setattr("tools.docs.verified", lambda: {"qwen3": "paged tokens", "novel": "unheard of"})
    with pytest.raises(ValueError, match="unheard of"):
        list(architecture_lines())


def test_each_reason_to_wait_is_explained_once():
    assert sorted(example.kind for example, _, _ in WAITS) == sorted(ReasonKind)
