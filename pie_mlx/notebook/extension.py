"""What `%load_ext pie_mlx` adds to IPython: an engine for the cells, pictures of SDK objects, `%pie` and `stream`."""

from importlib import import_module
from typing import Any

from inferlet import Context, Generator, Model, Output, chat, runtime
from pie_mlx.notebook.display import Shown, context_html, engine, output_html, written
from pie_mlx.notebook.session import NotebookSession

_display: Any = import_module("IPython.core.display_functions").display
DEFAULT_MODEL = "pie-tiny"


class Extension:
    """The engine of a shell's cells, and what they call by name."""

    def __init__(self, *, updates: bool) -> None:
        """`updates`: the front end replaces what it has shown. A terminal adds to it."""
        self._updates = updates
        self.session = NotebookSession(DEFAULT_MODEL, _write)
        self._model = DEFAULT_MODEL

    def pie(self, line: str) -> Shown:
        """`%pie` tells model, pages and price. `%pie MODEL` serves another model: what cells hold is released.

        Raises ModelError and its kin.
        """
        if line.strip():
            self.session.stop()
            self._model = line.strip()
            self.session = NotebookSession(self._model, _write)
        return engine(self._model, self.session.pages(), self.session.market())

    def context_html(self, context: Context) -> str:
        """The tree of forks that a context belongs to."""
        return context_html(context, self.session.contexts())

    async def stream(self, generator: Generator) -> str:
        """Run a generator to its end and show its text as it grows. Returns the text."""
        decoder, text = chat.Decoder(Model.load(runtime.models()[0])), ""
        shown = _display(written(text, repr(generator)), display_id=True) if self._updates else None
        async for step in generator:
            before = text
            match decoder.feed((await step.execute()).tokens):
                case chat.Event.Delta(text=more):
                    text += more
                case chat.Event.Done(text=text):
                    pass
                case _:
                    continue
            if shown is None:
                _write(text.removeprefix(before))
            else:
                shown.update(written(text, repr(generator)))
        if shown is not None:
            shown.update(written(text, repr(generator)))
        return text


_loaded: dict[int, Extension] = {}
"""By the identity of their shells: IPython keeps nothing for an extension."""


def load_ipython_extension(shell: Any) -> None:
    """Start an engine for the cells of a shell, an IPython InteractiveShell, and show SDK objects as pictures."""
    extension = _loaded[id(shell)] = Extension(updates=hasattr(shell, "kernel"))
    shell.register_magic_function(extension.pie, "line", "pie")
    shell.push({"stream": extension.stream})
    html = shell.display_formatter.formatters["text/html"]
    html.for_type(Context, extension.context_html)
    html.for_type(Output, output_html)


def unload_ipython_extension(shell: Any) -> None:
    """Stop the engine of a shell."""
    extension = _loaded.pop(id(shell), None)
    if extension is not None:
        extension.session.stop()


def _write(message: object) -> None:
    print(message, end="", flush=True)  # noqa: T201
