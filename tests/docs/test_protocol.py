"""docs/reference/protocol.md names the frames, queries, close codes and exit codes that there are."""

import re

import pytest

from pie_mlx.cli.terminal import errors
from pie_mlx.errors import InvalidArgumentError
from pie_mlx.server import frames
from pie_mlx.server.handlers import queries
from pie_mlx.server.session import connection
from tests.docs.pages import ROOT

TEXT = (ROOT / "docs" / "reference" / "protocol.md").read_text(encoding="utf-8")
WORD = re.compile(r"`(\w+)`(\??)")
KINDS = [kind for kind in frames.AnyFrame.__args__ if not kind.__name__.endswith("Workflow")]


def section(title):
    return re.split(r"^## ", TEXT.split(f"\n## {title}\n")[1], flags=re.MULTILINE)[0]


def rows(title):
    cells = [re.split(r"\s*\|\s*", line.strip("| ")) for line in section(title).splitlines() if line.startswith("| `")]
    return {name: row for row in cells for name, _ in WORD.findall(row[0])}


def wire_name(kind):
    return kind.__struct_config__.tag


@pytest.mark.parametrize("kind", KINDS, ids=wire_name)
def test_a_frame_of_a_client_has_the_fields_it_says(kind):
    defaults = dict(zip(reversed(kind.__struct_fields__), reversed(kind.__struct_defaults__), strict=False))
    fields = [name for name in kind.__struct_fields__ if name != "corr_id" or not issubclass(kind, frames.Request)]
    said = dict(WORD.findall(rows("From the client")[wire_name(kind)][1]))
    assert {name: bool(mark) for name, mark in said.items()} == {name: name in defaults for name in fields}


def test_no_frame_is_made_up():
    assert set(rows("From the client")) == {wire_name(kind) for kind in frames.AnyFrame.__args__}


async def test_the_subjects_of_queries_are_those_there_are():
    with pytest.raises(InvalidArgumentError, match="known") as refusal:
        await queries.query(None, frames.Query("?", corr_id=1))
    assert set(rows("Queries")) == set(refusal.value.message.partition("known: ")[2].split(", "))


def test_the_engine_closes_with_the_codes_it_says():
    codes = {int(code) for code in re.findall(r"^\| (\d{4}) \|", section("Close codes"), re.MULTILINE)}
    ours = {connection.NOT_A_FRAME, connection.FAULT, connection.TRY_LATER}
    assert codes >= ours | {connection.NOT_AUTHENTICATED, connection.TOO_SLOW}


def test_the_command_line_ends_with_the_codes_it_says():
    codes = {int(code) for code in re.findall(r"^\| (\d+) \|", section("The command line"), re.MULTILINE)}
    assert codes == {0, errors.FAILED, errors.WRONG_COMMAND_LINE, errors.INTERRUPTED}
