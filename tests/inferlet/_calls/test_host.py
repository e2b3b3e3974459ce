"""Finding the engine, and letting go of things safely."""

import contextvars
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from inferlet import Context, Model, runtime
from inferlet._calls.host import current_host, use_host
from pie_mlx.errors import EngineStoppedError
from tests.inferlet.toy_host import ToyHost

ROOT = Path(__file__).parents[3]


def test_outside_of_an_inferlet_there_is_no_engine() -> None:
    with pytest.raises(EngineStoppedError, match="inferlet") as raised:
        runtime.models()
    assert "pie run" in raised.value.__notes__[0]  # what plain Python prints below the message


def test_a_thread_of_the_programs_own_is_told_how_to_reach_its_engine(host: ToyHost, model: Model) -> None:
    with ThreadPoolExecutor() as threads:
        with pytest.raises(EngineStoppedError) as refused:
            threads.submit(runtime.models).result()
        assert "contextvars.copy_context().run" in refused.value.hint
        assert threads.submit(contextvars.copy_context().run, runtime.models).result() == runtime.models()


def test_hosts_nest(host: ToyHost) -> None:
    with use_host(host):
        outer = current_host()
        with use_host(ToyHost()):
            assert current_host() is not outer
        assert current_host() is outer


def test_objects_stay_with_their_engine(host: ToyHost) -> None:
    with use_host(host):
        model = Model.load("toy")
    with use_host(ToyHost()):
        ctx = Context(model)
    assert ctx.id in host.contexts


def test_a_drop_in_another_thread_waits_for_the_next_message(host: ToyHost, model: Model) -> None:  # P15
    held = [Context(model)]
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    assert len(host.contexts) == 1
    runtime.version()
    assert host.contexts == {}


def test_living_handles_are_silent_at_interpreter_exit() -> None:  # P15
    program = """
from inferlet import Context, Grammar, Matcher, Model
from inferlet._calls.host import use_host
from tests.inferlet.toy_host import ToyHost
with use_host(ToyHost()):
    model = Model.load("toy")
    ctx, matcher = Context(model), Matcher(Grammar.json(), model.tokenizer())
    ring = [ctx]
    ring.append(ring)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True)
    assert (done.stdout, done.stderr) == ("", "")


class Stopped(ToyHost):
    """An engine that stops answering."""

    stopped = False

    def call(self, message: object) -> object:
        if self.stopped:
            raise EngineStoppedError("engine: it has stopped")
        return super().call(message)  # pyright: ignore[reportArgumentType]


def test_letting_go_after_the_engine_stopped_is_silent() -> None:  # P15
    host = Stopped()
    with use_host(host):
        kept, dropped = Context(Model.load("toy")), Context(Model.load("toy"))
        host.stopped = True
        del dropped
        kept.release()
