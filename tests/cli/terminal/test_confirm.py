import io

import click
import pytest

from pie_mlx.cli.terminal.confirm import confirm


@pytest.mark.parametrize("text", ["y\n", "yes\n"])
def test_a_yes_lets_it_pass(answer, text):
    answer(text)
    confirm("Remove it?", refusal="nothing was removed", yes=False)


@pytest.mark.parametrize("text", ["n\n", "\n"])
def test_a_no_ends_it_and_says_what_was_spared(answer, text):
    answer(text)
    with pytest.raises(click.ClickException, match=r"^nothing was removed: the answer was no$"):
        confirm("Remove it?", refusal="nothing was removed", yes=False)


def test_an_interruption_is_no_answer(answer):
    answer("")
    with pytest.raises(click.Abort):
        confirm("Remove it?", refusal="nothing was removed", yes=False)


def test_nobody_is_asked_who_said_yes_before(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO())
    confirm("Remove it?", refusal="nothing was removed", yes=True)


def test_where_nobody_can_answer_the_flag_is_named(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    with pytest.raises(click.UsageError, match="-y"):
        confirm("Remove it?", refusal="nothing was removed", yes=False)
