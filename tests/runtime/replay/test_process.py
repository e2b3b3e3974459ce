"""A changed program against the recording of the old one."""

import pytest

ASK = """\
    model = Model.load(runtime.models()[0])
    with Context(model) as context:
        context.user(f"Write about {input['topic']}")
        text = await context.generate(Sampler.top_p(0.8, 0.9), max_tokens=5).collect_text()
    session.send({"length": len(text)})
    return text
"""
REFACTORED = """\
async def write(model, prompt):
    async def later(context):
        await asyncio.sleep(60)
        return await context.generate(Sampler.top_p(0.8, 0.9), max_tokens=5).collect_text()

    with Context(model) as context:
        context.user(prompt)
        return await later(context)


async def main(input):
    [name, *_] = runtime.models()
    text = await write(Model.load(name), "Write about " + input["topic"])
    session.send({"length": len(text)})
    return text
"""
TWO = """\
    model = Model.load(runtime.models()[0])

    async def ask(topic):
        with Context(model) as context:
            context.user(topic)
            return await context.generate(Sampler.top_p(0.8, 0.9), max_tokens=5).collect_text()

    return await asyncio.gather(ask("cats"), ask("dogs"))
"""


@pytest.fixture
async def asked(record):
    return await record(ASK)


async def test_the_program_itself_agrees_and_returns_what_was_recorded(asked):
    replayed = asked.replay()
    assert replayed.state == "agrees"
    assert replayed.value == asked.tape.ended.value
    assert replayed.calls == 8


async def test_a_refactored_program_agrees_without_waiting(asked):
    assert asked.replay(REFACTORED).state == "agrees"


async def test_a_changed_prompt_is_shown_as_the_first_difference_with_its_line(asked):
    replayed = asked.replay(ASK.replace("Write about", "Sing of"))
    assert replayed.state == "differs"
    assert replayed.report().splitlines() == [
        "agent@0.0.0: differs at: render turn, after 3 calls that agree",
        f"  {asked.program}:6",
        """    context.user(f"Sing of {input['topic']}")""",
        "  turn.text",
        "  - Write about rain",
        "  + Sing of rain",
    ]


async def test_a_changed_sampler_is_shown_by_its_field(asked):
    replayed = asked.replay(ASK.replace("0.8", "0.3"))
    assert (replayed.what, replayed.line) == ("differs at: forward", 7)
    assert replayed.lines == ["slots[0].read.temperature", "- 0.8", "+ 0.3"]


async def test_a_call_more_is_a_difference(asked):
    replayed = asked.replay(ASK.replace("    return text", "    session.send('more')\n    return text"))
    assert replayed.what == "a call that was not recorded: send message"
    assert replayed.lines == ["+ send message", "+   text: more"]


async def test_a_call_less_is_a_difference(asked):
    replayed = asked.replay(ASK.replace("""session.send({"length": len(text)})""", "pass"))
    assert replayed.what == "it ends without the call: send message"


async def test_keys_of_json_in_another_order_agree(record):
    recorded = await record("    session.send({'a': 1, 'b': 2})\n")
    assert recorded.replay("    session.send({'b': 2, 'a': 1})\n").state == "agrees"


async def test_another_result_is_a_difference(asked):
    replayed = asked.replay(ASK.replace("return text", "return 'other'"))
    assert replayed.what == "the result differs"
    assert replayed.lines[-1] == "+ other"


async def test_a_program_that_fails_now_differs(asked):
    replayed = asked.replay(ASK.replace("    session.send", "    1 / 0\n    session.send"))
    assert (replayed.what, replayed.error) == ("it fails", "ZeroDivisionError: division by zero")


async def test_a_program_that_failed_agrees_if_it_fails_in_the_same_way(record):
    recorded = await record("    raise ValueError('wrong')\n")
    assert recorded.replay().state == "agrees"
    assert recorded.replay("    raise ValueError('bad')\n").state == "differs"


async def test_tasks_that_begin_in_another_order_agree(record):
    recorded = await record(TWO)
    turned = TWO.replace('gather(ask("cats"), ask("dogs"))', "gather(*(ask(topic) for topic in ('dogs', 'cats')))")
    turned = turned.replace("    return await asyncio", "    dogs, cats = await asyncio") + "    return cats, dogs\n"
    assert recorded.replay(turned).state == "agrees"


async def test_messages_of_the_client_come_from_the_recording(record):
    recorded = await record("    return [await session.receive() for _ in range(2)]\n", messages=["one", "two"])
    assert recorded.replay().value == '["one", "two"]'


async def test_a_timeout_expires_in_recorded_time(record):
    body = """\
    try:
        await asyncio.wait_for(messaging.pull("nothing"), 0.01)
    except TimeoutError:
        return "nothing came"
"""
    recorded = await record(body)
    replayed = recorded.replay(body.replace("0.01", "3600"))
    assert (replayed.report(), replayed.value) == ("agent@0.0.0: agrees (2 calls)", "nothing came")


async def test_a_recording_that_was_cut_short_is_replayed_as_far_as_it_goes(asked):
    data = asked.path.read_bytes()
    asked.path.write_bytes(data[: len(data) * 9 // 10])
    replayed = asked.replay()
    assert replayed.state == "ended early"
    assert "agrees as far as the recording goes" in replayed.summary


async def test_work_on_another_thread_is_waited_for(record):
    body = "    return await asyncio.wait_for(asyncio.to_thread(sum, range(100_000)), 3600)\n"
    recorded = await record(body)
    assert recorded.replay().state == "agrees"


async def test_a_program_cannot_catch_the_end_of_its_replay(asked):
    wrapped = "    try:\n" + "".join(f"    {line}\n" for line in ASK.splitlines())
    replayed = asked.replay(wrapped.replace("about", "of") + "    except Exception:\n        return 'caught'\n")
    assert replayed.state == "differs"
    assert replayed.value == ""


async def test_a_child_is_in_the_recording_and_replayed_like_its_parent(record, tmp_path):
    (tmp_path / "child.py").write_text("async def main(input):\n    return 'from the child'\n")
    body = f"    child = runtime.launch({str(tmp_path / 'child.py')!r}, {{}})\n    return await child.result()\n"
    recorded = await record(body)
    assert recorded.replay().value == "from the child"
    recorded.program = tmp_path / "child.py"
    assert recorded.replay(place=1).state == "agrees"
