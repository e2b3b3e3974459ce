import pytest

from tools.docs import FOLDER, architecture_lines, pages


@pytest.mark.parametrize("name", list(pages()))
def test_the_reference_says_what_the_code_does(name):
    written = (FOLDER / name).read_text(encoding="utf-8")
    assert written == pages()[name], "write it again with: python -m tools.docs"


def test_a_tier_that_is_not_described_is_not_left_out_in_silence(monkeypatch):
    monkeypatch.setattr("tools.docs.verified", lambda: {"qwen3": "paged tokens", "novel": "unheard of"})
    with pytest.raises(ValueError, match="unheard of"):
        list(architecture_lines())
