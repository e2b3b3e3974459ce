"""An edited program goes on live from where it differs from its recording, in a worker, on a real model."""

from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from pie_mlx import Engine
from pie_mlx.errors import PieError
from pie_mlx.events import ProcessOutput
from pie_mlx.runtime.recording.file import read_recording
from pie_mlx.runtime.recording.recorder import Recorder
from pie_mlx.runtime.replay.live import live_draws
from pie_mlx.runtime.replay.tape import tapes
from pie_mlx.runtime.worker.settings import WorkerSettings

HEAD = "import asyncio, json, random, time\nfrom inferlet import *\nfrom inferlet import runtime, session\n"
TALK = """\
    context = Context(Model.load(runtime.models()[0]))
    for topic in ("rain", "snow", "wind"):
        context.user(f"Tell me about {topic} {random.random()}")
        session.send(await context.generate(Sampler.argmax(), max_tokens=9).collect_text())
"""
FORKS = """\
    base = Context(Model.load(runtime.models()[0]))
    base.system("Short answers.")
    await base.flush()
    one, two = base.fork(), base.fork()
    base.release()
    for context, topic in ((one, "rain"), (two, "snow"), (one, "wind")):
        context.user(topic)
        session.send(await context.generate(Sampler.argmax(), max_tokens=6).collect_text())
"""
GRAMMAR = """\
    model = Model.load(runtime.models()[0])
    context = Context(model)
    context.user("Where?")
    schema = {"type": "object", "properties": {"city": {"enum": ["Lima", "Oslo"]}, "n": {"type": "integer"}},
              "required": ["city", "n"]}
    steps = context.generate(Sampler.argmax(), max_tokens=40, constrain=JsonSchema(json.dumps(schema)))
    tokens = []
    async for step in steps:
        tokens += (await step.execute()).tokens
        if len(tokens) == 4:
            session.send("MARK")
    session.send(model.tokenizer().decode(tokens))
"""


STEPS = """\
    model = Model.load(runtime.models()[0])
    context = Context(model)
    context.user("Tell me a story.")
    tokens = []
    async for step in context.generate(Sampler.argmax(), max_tokens=24):
        tokens += (await step.execute()).tokens
        if len(tokens) == 20:
            break
    context.user("And then?")
    session.send(await context.generate(Sampler.argmax(), max_tokens=6).collect_text())
"""
DRAFTS = TALK.replace("max_tokens=9", "max_tokens=9, system_speculation=True")
PLACED = """\
    model = Model.load(runtime.models()[0])
    context = Context(model)
    await context.forward().input_at(model.tokenizer().encode("one two"), [0, 3]).execute()
    session.send("MARK")
    context.user("Go on.")
    session.send(await context.generate(Sampler.argmax(), max_tokens=6).collect_text())
"""
SAVED = """\
    model = Model.load(runtime.models()[0])
    context = Context(model)
    context.user("Remember the rain.")
    await context.flush()
    name = context.save("rain") or "rain"
    context.release()
    session.send("MARK")
    with Context.open(model, name) as opened:
        session.send(await opened.generate(Sampler.argmax(), max_tokens=6).collect_text())
"""
TOGETHER = """\
    model = Model.load(runtime.models()[0])
    told, plain = Context(model).system("Be brief."), Context(model)
    for topic in ("rain", "snow", "wind"):
        for context in (told, plain):
            context.user(topic)
        sampler = Sampler.argmax().ruled(rules.guidance(scale=1.5))
        session.send(await told.generate(sampler, others=[plain], max_tokens=6).collect_text())
"""
PATIENT = """\
    began = time.monotonic()
    session.send("ready")
    await asyncio.sleep(0.01)
    return [time.monotonic() - began]
"""
PARENT = """\
    child = runtime.launch(input["child"], {})
    session.send("MARK")
    return await child.result()
"""


@dataclass
class Ran:
    """What a run left behind."""

    messages: list[object]
    value: object
    errors: str


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def worker_engine():
    """An engine whose programs have processes of their own, and order sets as recordings do."""
    async with Engine("pie-tiny", isolation="process", workers=WorkerSettings(same_hashes=True)) as engine:
        yield engine


@dataclass
class Laboratory:
    """Records programs and lets edited ones go on live."""

    engine: Engine
    folder: Path

    async def run(self, body, *messages, **options):
        path = self.folder / "agent.py"
        path.write_text(HEAD + (body if "async def main" in body else "async def main(input):\n" + body))
        sent, errors = [], []
        process = await self.engine.launch(
            path,
            on_message=sent.append,
            on_event=lambda event: errors.append(event.text) if isinstance(event, ProcessOutput) else None,
            capture_output=True,
            **options,
        )
        for message in messages:
            process.send(message)
        process.close_session()
        try:
            value = await process.result()
        finally:
            self.errors = "".join(errors)
        return Ran(sent, value, "".join(errors))

    async def record(self, body, *messages):
        recorder = Recorder(self.folder / "run.pie", "pie-tiny", print)
        try:
            return await self.run(body, *messages, recorder=recorder)
        finally:
            recorder.close()

    async def go_live(self, body, *messages):
        recording = read_recording(self.folder / "run.pie")
        draws = live_draws(self.folder / "run.pie", recording.begun, tapes(recording)[0].launched)
        return await self.run(body, *messages, draws=draws)


@pytest.fixture
def laboratory(worker_engine, tmp_path):
    return Laboratory(worker_engine, tmp_path)


async def test_live_begins_at_the_first_difference_and_says_so(laboratory):
    recorded = await laboratory.record(TALK)
    live = await laboratory.go_live(TALK.replace('("rain", "snow", "wind")', '("rain", "snow", "hail")'))
    assert (len(recorded.messages), len(live.messages)) == (3, 1)
    assert "agent.py:7" in live.errors
    assert "live from here: 1 context rebuilt from" in live.errors


@pytest.mark.parametrize(
    ("body", "before", "after"),
    [
        (TALK, '"wind")', '"hail")'),
        (FORKS, '(one, "wind")', '(one, "hail")'),
        (FORKS, '(two, "snow"), (one, "wind")', '(two, "snow"), (two, "wind")'),
        (GRAMMAR, '"MARK"', '"mark"'),
        (STEPS, "== 20", "== 11"),
        (DRAFTS, '"wind"', '"hail"'),
        (PLACED, '"MARK"', '"mark"'),
        (SAVED, '"MARK"', '"mark"'),
        (TOGETHER, '"wind")', '"hail")'),
    ],
    ids=[
        "a conversation",
        "a fork",
        "the other fork",
        "a grammar",
        "single steps",
        "drafts",
        "positions",
        "snapshots",
        "contexts that are joined",
    ],
)
async def test_what_follows_is_what_a_whole_run_would_have_drawn(laboratory, body, before, after):
    body = body.replace(" {random.random()}", "")
    await laboratory.record(body)
    edited = body.replace(before, after)
    live = await laboratory.go_live(edited)
    whole = await laboratory.run(edited)
    assert "live from here" in live.errors
    assert live.messages
    assert live.messages == whole.messages[-len(live.messages) :]


async def test_time_goes_on_from_where_the_recording_was_and_messages_come_from_the_client(laboratory):
    """A sleep of the recorded part takes no time, however long it is."""
    await laboratory.record(PATIENT)
    live = await laboratory.go_live(
        PATIENT.replace("sleep(0.01)", "sleep(3600)").replace("return [", "return [await session.receive(), "), "hello"
    )
    text, seconds = live.value
    assert text == "hello"
    assert 3600 <= seconds < 3700


async def test_a_program_that_agrees_to_its_end_says_that_nothing_was_live(laboratory):
    recorded = await laboratory.record(TALK)
    live = await laboratory.go_live(TALK)
    assert (live.messages, live.value) == ([], recorded.value)
    assert live.errors.endswith("[pie] nothing was live\n")


async def test_a_recording_that_was_cut_short_goes_on_live_where_it_ends(laboratory):
    recorded = await laboratory.record(TALK)
    file = laboratory.folder / "run.pie"
    file.write_bytes(file.read_bytes()[: file.stat().st_size * 9 // 10])
    live = await laboratory.go_live(TALK)
    assert "agrees as far as the recording goes" in live.errors
    assert live.messages == recorded.messages[-len(live.messages) :] != []


async def test_a_recorded_child_is_not_run_again_and_its_end_is_the_recorded_one(laboratory):
    child = laboratory.folder / "child.py"
    child.write_text("import random\n\nasync def main(input):\n    return random.random()\n")
    parent = PARENT.replace('input["child"]', repr(str(child)))
    recorded = await laboratory.record(parent)
    live = await laboratory.go_live(parent.replace("MARK", "mark"))
    assert live.messages == ["mark"]
    assert live.value == recorded.value


async def test_an_engine_with_another_model_is_refused_where_live_would_begin(laboratory, recorder_engine):
    recorder = Recorder(laboratory.folder / "run.pie", "dummy", print)
    path = laboratory.folder / "agent.py"
    path.write_text(HEAD + "async def main(input):\n" + TALK)
    await (await recorder_engine.launch(path, recorder=recorder)).outcome()
    recorder.close()
    with pytest.raises(PieError, match="model 'dummy'"):
        await laboratory.go_live(TALK.replace("rain", "hail"))
