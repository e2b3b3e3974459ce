"""A shell with the extension loaded."""

import pytest
from IPython.core.interactiveshell import InteractiveShell


class Cells:
    """Runs cells one after the other, as a notebook does."""

    def __init__(self, shell):
        self._shell = shell

    def run(self, code):
        """The value of a cell. Raises what it raises."""
        ran = self._shell.run_cell(code)
        ran.raise_error()
        return ran.result

    def html(self, name):
        """How a front end shows a variable."""
        shown, _ = self._shell.display_formatter.format(self._shell.user_ns[name])
        return shown.get("text/html", "")


@pytest.fixture(scope="package")  # its engine is that of all code which runs in no inferlet
def cells(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IPYTHONDIR", str(tmp_path_factory.mktemp("ipython")))
        shell = InteractiveShell.instance(history_load_length=0, cache_size=0)
        shell.history_manager.enabled = False
        running = Cells(shell)
        running.run("%load_ext pie_mlx")
        yield running
        running.run("%unload_ext pie_mlx")
        InteractiveShell.clear_instance()
