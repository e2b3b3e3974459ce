"""How many files this process may have open."""

import resource
import subprocess
import sys

import pytest

from pie_mlx.open_files import limit_kept, raise_limit


@pytest.fixture
def limits():
    """Those of this process, as they were once the test is over."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield before
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_the_limit_is_raised_and_never_lowered(limits):
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, limits[1]))
    assert raise_limit(300) == 300
    assert raise_limit(260) == 300


def test_others_than_mlx_lm_may_change_it_meanwhile(limits):
    with limit_kept():
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, limits[1]))
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 256


@pytest.mark.parametrize("module", ["engine.start", "runtime.engine", "runtime.models", "bench.peer", "server"])
def test_no_import_changes_it(module):
    code = f"""
import resource
before = resource.getrlimit(resource.RLIMIT_NOFILE)
import pie_mlx.{module}
import pie_mlx.engine.model.loading.load
assert resource.getrlimit(resource.RLIMIT_NOFILE) == before
"""
    subprocess.run([sys.executable, "-c", code], check=True)
