import numpy as np

from pie_mlx.engine.paging.disk.buffers import KEPT, Buffers
from pie_mlx.engine.paging.page_bytes import PageLayout

LAYOUT = PageLayout.of_content([(np.zeros((1, 2, 1, 4), np.float32), np.zeros((1, 2, 1, 4), np.float32))])


def test_a_buffer_that_is_given_back_is_used_again():
    buffers = Buffers(LAYOUT)
    first = buffers.take(3)
    assert first.shape == (3, LAYOUT.bytes)
    assert buffers.take(3) is not first
    buffers.give_back(first)
    assert buffers.take(3) is first


def test_a_buffer_of_another_size_is_not_given():
    buffers = Buffers(LAYOUT)
    buffers.give_back(buffers.take(3))
    assert len(buffers.take(2)) == 2


def test_few_buffers_are_kept():
    buffers = Buffers(LAYOUT)
    taken = [buffers.take(1) for _ in range(KEPT + 1)]
    for rows in taken:
        buffers.give_back(rows)
    again = [buffers.take(1) for _ in taken]
    assert sum(any(rows is one for one in taken) for rows in again) == KEPT
