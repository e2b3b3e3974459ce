"""What `import pie_mlx` offers."""

import importlib

import pytest

import pie_mlx


@pytest.mark.parametrize("name", pie_mlx.__all__)
def test_every_public_name_can_be_imported(name):
    assert getattr(pie_mlx, name) is not None
    assert name in dir(pie_mlx)


@pytest.mark.parametrize("package", ["inferlet", "pie_mlx.config"])
def test_packages_offer_exactly_what_they_say(package):
    module = importlib.import_module(package)
    missing = [name for name in module.__all__ if not hasattr(module, name)]
    assert missing == []
    assert len(set(module.__all__)) == len(module.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'Motor'"):
        _ = pie_mlx.Motor
