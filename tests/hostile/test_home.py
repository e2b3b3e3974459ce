"""Homes that are not ours."""

import os

import pytest

from tests.serving import Serving

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives directories away")


@pytest.mark.parametrize(
    ("mode", "owner", "why"),
    [
        (0o1777, -1, "others can write in it"),
        pytest.param(0o755, 65534, "it belongs to another user", marks=root_only),
    ],
)
def test_a_home_that_is_not_ours_is_refused_and_stays_as_it_is(tmp_path, mode, owner, why):
    os.chown(tmp_path, owner, -1)
    tmp_path.chmod(mode)
    serving = Serving(tmp_path)
    _, err = serving.child.communicate()
    assert (serving.child.returncode, f"{tmp_path}: {why}" in err) == (1, True), err
    assert "set PIE_HOME to a directory that only you can write in" in err
    assert (tmp_path.stat().st_mode & 0o7777, os.listdir(tmp_path)) == (mode, [])
