import pytest

from tools.docs import FOLDER, pages


@pytest.mark.parametrize("name", list(pages()))
def test_the_reference_says_what_the_code_does(name):
    written = (FOLDER / name).read_text(encoding="utf-8")
    assert written == pages()[name], "write it again with: python -m tools.docs"
