"""The pytest plugin `pie`: fixtures to run programs without `async`, on a real engine or a scripted model.

It imports the engine with the first test that uses it: pytest loads it everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import pytest

if TYPE_CHECKING:
    from pie_mlx.runtime.execution.entry import Main
    from pie_mlx.testing.cassettes import Mode
    from pie_mlx.testing.engine import TestEngine
    from pie_mlx.testing.result import Result
    from pie_mlx.testing.scripts import Script

_MARK = "cassette(name): record the programs of a test once, and replay them afterwards."


class RunProgram(Protocol):
    """Runs a program, by its path or as a function, to its end.

    `messages` are what its client sends, texts or files. With a `script` the model says what that says: a text, a
    list of texts, a dict from words to texts, or a function from the prompt to the text. `check` raises what ended the
    program; the other options are those of `Engine.launch`. Paths are relative to the test's file.
    """

    def __call__(
        self,
        program: str | Path | Main,
        input: Any = None,
        *,
        messages: Sequence[str | bytes] = (),
        script: Script | None = None,
        check: bool = True,
        **options: Any,
    ) -> Result: ...


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("pie", "programs of pie-mlx")
    group.addoption(
        "--pie-record",
        choices=("once", "all", "none"),
        default="once",
        help="cassettes: record those that are missing, all again, or none",
    )
    group.addoption("--pie-update", action="store_true", help="keep the transcripts of this run as snapshots")
    parser.addini("pie_model", "the model of pie_engine: a directory, a repo id or pie-tiny", default="pie-tiny")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _MARK)


class _Engines:
    """The engines of a session, each started when a test first uses it."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._started: dict[bool, TestEngine] = {}
        self.stack = ExitStack()

    def get(self, *, scripted: bool) -> TestEngine:
        from pie_mlx.testing.engine import TestEngine

        if scripted not in self._started:
            engine = TestEngine(scripted=True) if scripted else TestEngine(model=self._model)
            self._started[scripted] = self.stack.enter_context(engine)
        return self._started[scripted]


@pytest.fixture(scope="session")
def _pie_engines(pytestconfig: pytest.Config) -> Iterator[_Engines]:  # pyright: ignore[reportUnusedFunction]
    engines = _Engines(str(pytestconfig.getini("pie_model")))
    with engines.stack:
        yield engines


@pytest.fixture(scope="session")
def pie_engine(_pie_engines: _Engines) -> TestEngine:
    """An engine with a real model, pie-tiny if `pie_model` names no other."""
    return _pie_engines.get(scripted=False)


@pytest.fixture
def run_program(request: pytest.FixtureRequest, _pie_engines: _Engines) -> RunProgram:
    """Runs a program to its end and returns its `Result`."""
    folder = request.path.parent
    runs = iter(range(1, 1_000_000))

    def run(
        program: str | Path | Main,
        input: Any = None,
        *,
        script: Script | None = None,
        messages: Sequence[str | bytes] = (),
        check: bool = True,
        **options: Any,
    ) -> Result:
        if isinstance(program, str | Path):
            program = folder / program

        def record(path: Path | None) -> Result:
            engine = _pie_engines.get(scripted=script is not None)
            return engine.run(program, input, script=script, messages=messages, check=check, record=path, **options)

        mark = request.node.get_closest_marker("cassette")
        if mark is None:
            return record(None)
        from pie_mlx.testing.cassettes import Cassette

        number = next(runs)
        name = mark.args[0] if number == 1 else f"{mark.args[0]}-{number}"
        path = folder / "cassettes" / f"{name}.pie"
        return Cassette(path, _mode(request.config)).run(program, input, record)

    return run


def _mode(config: pytest.Config) -> Mode:
    return cast("Mode", config.getoption("--pie-record"))


@pytest.fixture
def assert_transcript(request: pytest.FixtureRequest) -> Callable[[Result, str], None]:
    """Compares the transcript of a result with the snapshot of that name."""
    from pie_mlx.testing.snapshots import check_snapshot

    update = bool(request.config.getoption("--pie-update"))
    check = partial(check_snapshot, request.path.parent, update=update)
    return lambda result, name: check(name, result.transcript)
