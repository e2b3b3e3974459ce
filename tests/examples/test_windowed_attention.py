import pytest


def test_narrow_windows_predict_worse_and_wide_ones_alike(play):
    result = play("windowed-attention", {"windows": [4, 64, 500]}).result
    found = {int(window): perplexity for window, perplexity in result.items()}
    assert found[4] > 10 * found[64]
    assert found[64] == pytest.approx(found[500], rel=1e-3)
    assert found[500] < 2
