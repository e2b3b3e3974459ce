from pie_mlx.runtime.doctor.models import fitting

GIB = 1 << 30


def test_what_fits_leaves_a_tenth_of_the_memory_and_the_largest_comes_first():
    found = fitting(16 * GIB, 8192)
    assert found[0].repo == "mlx-community/gpt-oss-20b-MXFP4-Q8"
    assert all(one.needed_bytes(8192) <= 14.4 * GIB for one in found)


def test_a_longer_context_needs_more():
    assert len(fitting(8 * GIB, 100_000)) < len(fitting(8 * GIB, 1000))


def test_nothing_fits_a_machine_without_memory():
    assert fitting(0, 1) == []
