"""Programs under the names of others."""

import pytest
from pie_client import PieClient
from pie_client.crypto import ParsedPrivateKey

from pie_mlx.client import connect
from pie_mlx.errors import LaunchError, ProcessError, ProgramOwnerError
from tests.hostile.logins import engine_with_users
from tests.ports import free_port

pytestmark = pytest.mark.timeout(60)

CODE = """
from inferlet import runtime

async def main(input):
    if "launch" in input:
        return await runtime.launch(input["launch"], {}).result()
    return "OWNER " + runtime.username()
"""
HANDLER = "async def handle(request):\n    return {}\n"
MANIFEST = '[package]\nname = "{name}"\nversion = "{version}"\n'


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    target, files = engine_with_users(tmp_path_factory.mktemp("names"), "ada", "bob", "ops")
    yield target, files
    target.clean_up()


@pytest.fixture
async def clients(engine):
    """Of ada, bob and ops, whom all trust."""
    target, files = engine
    opened = [await connect(target.url, username=name, key_file=file) for name, file in files.items()]
    with target.stays_healthy():
        yield opened
    for client in opened:
        await client.close()


@pytest.fixture
async def bobs(clients):
    """A program of bob's, and one that is ada's own."""
    ada, bob, _ = clients
    await install(bob, "bob", "bobs")
    await install(ada, "ada", "adas")


def install(client, owner, name, version="1.0.0", *, source=CODE, more="", **options):
    manifest = MANIFEST.format(name=name, version=version) + more
    return client.install(source.replace("OWNER", owner).encode(), manifest, **options)


async def run(client, name, **input):
    return await (await client.launch(name, input)).result()


@pytest.mark.parametrize("force", [False, True])
async def test_a_higher_version_does_not_take_a_name_over(clients, force):
    ada, bob, _ = clients
    await install(ada, "ada", "tool")
    with pytest.raises(ProgramOwnerError, match="'tool': the name belongs to the user 'ada'"):
        await install(bob, "bob", "tool", "2.0.0", force=force)
    with pytest.raises(LaunchError, match="'tool' is installed"):
        await install(bob, "bob", "Tool", force=force)
    assert await run(ada, "tool") == "ada ada"


@pytest.mark.parametrize("name", ["text-completion", "Text_Completion", "openai", "OpenAI", "chat"])
async def test_nobody_takes_a_name_of_the_engine(clients, name):
    with pytest.raises(LaunchError, match=r"the name comes with the engine|is installed"):
        await install(clients[1], "bob", name, "99.0.0")


@pytest.mark.parametrize("name", ["bobs", "bobs@1.0.0", "bobs@latest"])
async def test_no_way_to_launch_by_a_name_runs_code_of_somebody_who_is_not_trusted(clients, bobs, name):
    ada = clients[0]
    for attempt in (run(ada, name), ada.launch_all(name, [{}]), ada.launch_daemon(name, free_port())):
        with pytest.raises(ProgramOwnerError, match="belongs to the user 'bob'"):
            await attempt
    with pytest.raises(ProcessError, match="belongs to the user 'bob'"):
        await run(ada, "adas", launch=name)


async def test_a_name_that_was_given_up_means_nothing_of_who_takes_it(clients):
    ada, bob, _ = clients
    await install(ada, "ada", "given-up")
    await ada.remove("given-up", "1.0.0")
    await install(bob, "bob", "given-up")
    with pytest.raises(ProgramOwnerError, match="belongs to the user 'bob'"):
        await run(ada, "given-up@1.0.0")


@pytest.mark.parametrize("keep", [True, False])
async def test_a_dependency_means_nothing_of_somebody_who_is_not_trusted(clients, bobs, keep):
    with pytest.raises(ProgramOwnerError, match="'bobs' belongs to the user 'bob'"):
        await install(clients[0], "ada", "app", more='[dependencies]\nbobs = "*"\n', keep=keep)


async def test_a_full_name_runs_what_others_installed(clients, bobs):
    ada = clients[0]
    assert await run(ada, "bob:bobs@1.0.0") == "bob ada"
    assert await run(ada, "adas", launch="bob:bobs") == "bob ada"


async def test_a_program_launches_programs_of_its_owner_whoever_runs_it(clients, bobs):
    ada, bob, _ = clients
    await install(bob, "bob", "helper")
    assert await run(ada, "bob:bobs", launch="helper") == "bob ada"


async def test_programs_of_the_trusted_run_by_their_names(clients):
    ada, _, ops = clients
    await install(ops, "ops", "shared")
    assert await run(ada, "shared") == "ops ada"


async def test_the_published_client_launches_by_full_names(engine, clients, bobs):
    target, files = engine
    async with PieClient(target.url) as client:
        await client.authenticate("ada", ParsedPrivateKey.from_file(files["ada"]))
        assert await client.check_program("adas@1.0.0")
        assert not await client.check_program("bobs@1.0.0")
        process = await client.launch_process("bob:bobs@1.0.0", {})
        assert (await process.recv())[1] == "bob ada"


async def test_the_command_line_trusts_no_more_than_the_engine(engine, clients, bobs):
    target, _ = engine
    config = "--config", target.home / "hostile.toml"
    assert ["bobs@1.0.0", "bob"] in [line.split()[0::4][:2] for line in target.pie("list")[1].splitlines()]
    for words in ([], ["--dummy", *config]):  # on the engine that runs, and on one of its own
        code, _, err = target.pie("run", "bobs", *words)
        assert (code, "belongs to the user 'bob'" in err) == (1, True)
    code, out, err = target.pie("run", "bob:bobs")
    assert (code, out.split()[0]) == (0, "bob"), err
