import pytest

from pie_mlx import Engine


@pytest.fixture
async def engine():
    """An engine without weights, with few pages."""
    async with Engine(dummy=True, total_pages=64, seed=1) as running:
        yield running
