import io

import click
import pytest

from pie_mlx.cli.asking import confirm


class Terminal(io.StringIO):
    """Somebody who types."""

    def isatty(self):
        return True


@pytest.mark.parametrize("answer", ["y\n", "yes\n"])
def test_a_yes_lets_it_pass(monkeypatch, answer):
    monkeypatch.setattr("sys.stdin", Terminal(answer))
    confirm("Remove it?", yes=False)


@pytest.mark.parametrize("answer", ["n\n", "\n"])
def test_a_no_ends_it(monkeypatch, answer):
    monkeypatch.setattr("sys.stdin", Terminal(answer))
    with pytest.raises(click.ClickException, match="nothing was removed"):
        confirm("Remove it?", yes=False)


def test_an_interruption_is_no_answer(monkeypatch):
    monkeypatch.setattr("sys.stdin", Terminal(""))
    with pytest.raises(click.Abort):
        confirm("Remove it?", yes=False)


def test_nobody_is_asked_who_said_yes_before(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO())
    confirm("Remove it?", yes=True)


def test_where_nobody_can_answer_the_flag_is_named(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    with pytest.raises(click.UsageError, match="-y"):
        confirm("Remove it?", yes=False)
