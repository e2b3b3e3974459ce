"""A data set has a JSON object a line."""

import pytest

from pie_mlx.errors import InvalidArgumentError
from pie_mlx.runtime.evaluation.checks import checks_of
from pie_mlx.runtime.evaluation.dataset import read_dataset
from tests.docs.pages import ROOT


@pytest.fixture
def read(tmp_path):
    def read(text):
        (tmp_path / "data.jsonl").write_text(text)
        return read_dataset(tmp_path / "data.jsonl")

    return read


def test_a_text_is_the_prompt_and_blank_lines_are_nothing(read):
    first, second = read('{"input": "hello", "expected": "hi"}\n\n{"input": {"n": 1}, "id": 7, "check": "exact"}')
    assert (first.input, first.expected, first.checks) == ({"prompt": "hello"}, "hi", ())
    assert (second.input, second.id, second.checks) == ({"n": 1}, "7", ("exact",))
    assert (first.name, second.name) == ("line 1", "7")


def test_rows_keep_their_names_in_another_order_and_equal_ones_are_counted(read):
    one, two, again = read('{"input": "a"}\n{"input": "b"}\n{"input": "a"}')
    assert [row.id for row in read('{"input": "b"}\n{"input": "a"}')] == [two.id, one.id]
    assert again.id == f"{one.id}#2"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("[1]", "data.jsonl:2: not a JSON object"),
        ("{", "data.jsonl:2: "),
        ('{"expected": 1}', "data.jsonl:2: no 'input'"),
        ('{"input": 1}', "data.jsonl:2: input is no object"),
        ('{"input": "a", "exepcted": 1}', "data.jsonl:2: unknown key 'exepcted'"),
        ('{"input": "a", "checks": "exact"}', "data.jsonl:2: checks is no list"),
    ],
)
def test_a_mistake_is_told_with_its_line(read, line, why):
    with pytest.raises(InvalidArgumentError, match=why):
        read(f'{{"input": "a"}}\n{line}\n')


def test_the_rows_of_the_guide_can_be_read(read):
    lines = (ROOT / "docs" / "guide" / "testing.md").read_text().splitlines()
    rows = read("\n".join(line.strip() for line in lines if line.startswith('    {"input"')))
    assert [len(checks_of(row, None)) for row in rows] == [1, 1, 1]


def test_an_empty_one_is_refused(read):
    with pytest.raises(InvalidArgumentError, match="no rows"):
        read("\n")
