"""Which layers keep their pages in how many bits."""

import pytest

from pie_mlx.engine.model.memory import with_format
from pie_mlx.engine.settings import KvFormat
from pie_mlx.errors import InvalidArgumentError
from pie_mlx.metal import LayerShape, Quantisation

LAYERS = [LayerShape(2, 128, 64), LayerShape(0, 0, 0), LayerShape(2, 128, 64), LayerShape(1, 64, 64)]


def kinds(kv: KvFormat) -> list[Quantisation | None]:
    return [shape.quantisation for shape in with_format(LAYERS, kv, "model")]


def test_pages_are_full_where_nothing_is_said() -> None:
    assert kinds(KvFormat()) == [None] * 4


@pytest.mark.parametrize(("dtype", "bits"), [("int8", 8), ("int4", 4)])
def test_every_layer_with_keys_and_values_is_quantised_in_groups_of_64(dtype: str, bits: int) -> None:
    kind = Quantisation(bits, 64)
    assert kinds(KvFormat(dtype)) == [kind, None, kind, kind]


def test_heads_that_64_does_not_divide_get_groups_of_32() -> None:
    (shape,) = with_format([LayerShape(2, 96, 96)], KvFormat("int8"), "model")
    assert shape.quantisation == Quantisation(8, 32)


def test_layers_that_are_to_stay_full_are_counted_among_those_with_keys_and_values() -> None:
    kind = Quantisation(8, 32)
    assert kinds(KvFormat("int8", 32, (1, -1))) == [kind, None, None, None]


@pytest.mark.parametrize(
    ("kv", "reason"),
    [
        (KvFormat("int5"), "'int5': no such format"),
        (KvFormat("int8", 48), "groups of 48"),
        (KvFormat("int8", None, (3,)), "no layer 3 to keep in full precision, 3 layers"),
        (KvFormat("int8", None, (-4,)), "no layer -4"),
    ],
)
def test_a_format_that_there_is_not(kv: KvFormat, reason: str) -> None:
    with pytest.raises(InvalidArgumentError, match=reason):
        with_format(LAYERS, kv, "model")


@pytest.mark.parametrize(("size", "hint"), [(96, "use groups of 32"), (80, "full precision")])
def test_heads_that_groups_do_not_divide(size: int, hint: str) -> None:
    with pytest.raises(InvalidArgumentError, match=f"groups of 64 do not divide the head size {size}") as error:
        with_format([LayerShape(2, size, size)], KvFormat("int8", 64), "model")
    assert hint in error.value.hint
