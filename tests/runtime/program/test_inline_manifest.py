import pytest

from pie_mlx.errors import LaunchError
from pie_mlx.runtime.program.manifest import inline_manifest


def test_the_block_is_toml_without_its_comment_signs():
    source = '"""Doc."""\n\n# /// pie\n# [package]\n#\n# name = "x"\n# ///\n\nimport inferlet\n'
    assert inline_manifest(source) == '[package]\n\nname = "x"'


def test_a_file_without_a_block_has_no_manifest():
    assert inline_manifest("# /// script\n# x = 1\n# ///\n") is None


@pytest.mark.parametrize("source", ["# /// pie\n# a = 1\n", "# /// pie\n# a = 1\nimport x\n# ///\n"])
def test_a_block_that_does_not_end_is_an_error(source):
    with pytest.raises(LaunchError, match="does not end"):
        inline_manifest(source)


def test_two_blocks_are_an_error():
    with pytest.raises(LaunchError, match="two"):
        inline_manifest("# /// pie\n# ///\n# /// pie\n# ///\n")
