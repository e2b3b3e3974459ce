import mlx.core as mx
import numpy as np
import pytest

from pie_mlx.backends.cpu.pool import CpuPool
from pie_mlx.engine.paging.page_bytes import PageLayout
from pie_mlx.metal.page_pool.pool import KvPool
from pie_mlx.metal.page_pool.shapes import LayerShape

SHAPES = [LayerShape(3, 4, 4), LayerShape(2, 4, 8)]


@pytest.mark.parametrize("kind", [KvPool, CpuPool])
def test_pages_that_were_read_as_bytes_come_back_as_they_were(kind):
    pool = kind(SHAPES, pages=4, page_size=8, dtype=mx.float32)
    layout = PageLayout.of_pool(pool)
    rows = layout.rows(2)
    rows[...] = np.arange(rows.size).reshape(rows.shape) % 251
    pool.write_pages([3, 1], layout.content(rows))
    found = layout.rows(2)
    pool.read_pages([3, 1], layout.content(found))
    assert (found == rows).all()


def test_the_bytes_of_a_page_lie_as_in_the_pool():
    by_slot = KvPool(SHAPES, pages=2, page_size=8, dtype=mx.float32)
    by_head = CpuPool(SHAPES, pages=2, page_size=8, dtype=mx.float32)
    for pool, order in ((by_slot, (8, 3)), (by_head, (3, 8))):
        layout = PageLayout.of_pool(pool)
        rows = layout.rows(1)
        keys = layout.content(rows)[0][0]
        keys[...] = np.arange(keys.size).reshape(keys.shape)
        stored = rows[0, : keys.nbytes].view(np.float32).reshape(*order, 4)
        assert (stored == (keys[0] if order == (8, 3) else keys[0].swapaxes(0, 1))).all()
