"""The pool page by page, as each user may see it."""

import pytest

from tests.server.speaking import speak
from tests.server.watching.test_tokens import SHY

HOLDER = """
from inferlet import Context, Model, runtime, session

async def main(input):
    with Context(Model.load(runtime.models()[0])) as context:
        context.append([300 + token for token in range(16 * input["pages"])])
        await context.flush()
        session.send("holds")
        await session.receive()
"""


async def held(speaker, pages, inferlet="holder"):
    """A process that holds so many full pages."""
    process = await speaker.launch({"pages": pages}, inferlet=inferlet)
    assert (await speaker.event(process))["value"] == "holds"
    return process


def mine(pool):
    return [group for group in pool["groups"] if group["contexts"]]


@pytest.fixture
def holders(server):
    """The same program twice: the second one does not show its tokens."""
    manifest = '[package]\nname = "holder"\nversion = "0.1.0"\n'
    for each in (manifest, SHY):
        server.server.service.programs.install(HOLDER.encode(), each, force=True)


@pytest.mark.timeout(30)
async def test_the_pool_is_told_whole_and_users_see_their_own_holders(server, holders):
    async with await speak(server, "ada") as ada, await speak(server, "bob") as bob:
        process = await held(ada, 3)
        own, others = await ada.query("pool"), await bob.query("pool")
        total = (await ada.query("pages"))["total"]
        for pool in (own, others):
            assert sum(group["count"] for group in pool["groups"]) == total
            runs = [run for group in pool["groups"] for run in group["pages"]]
            numbers = [first + place for first, count in runs for place in range(count)]
            assert sorted(numbers) == list(range(total))
        assert sum(group["count"] for group in mine(own) if group["kind"] == "held") == 3
        assert mine(others) == []
        await ada.ask("terminate_process", process_id=process)


@pytest.mark.timeout(30)
async def test_the_text_of_a_page_is_for_those_who_may_see_the_tokens_of_its_program(server, holders):
    async with (
        await speak(server, "ada") as ada,
        await speak(server, "bob") as bob,
        await speak(server, unix=True) as root,
    ):
        process = await held(ada, 2)
        page = next(group for group in mine(await ada.query("pool")) if group["kind"] == "held")["pages"][0][0]
        found = await ada.query("page", {"page": page})
        assert (found["tokens"], found["first"], found["user"], len(found["key"])) == (16, 0, "ada", 32)
        assert found["text"]
        assert (await root.query("page", {"page": page}))["text"] == found["text"]
        assert await bob.query("page", {"page": page}) == {"page": page, "kind": "held", "others": 1}
        await ada.ask("terminate_process", process_id=process)
        await ada.events(process)
        shy = await held(ada, 2, "shy")
        hidden = await ada.query("page", {"page": page})
        assert (hidden["tokens"], hidden["text"]) == (16, "")
        await ada.ask("terminate_process", process_id=shy)


async def test_a_page_outside_the_pool_is_refused(server):
    async with await speak(server, "ada") as ada:
        ok, refusal = await ada.ask("query", subject="page", record='{"page": 4096}')
        assert (ok, refusal) == (False, "page 4096: outside the pool of 256")
