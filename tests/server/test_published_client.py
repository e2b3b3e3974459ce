"""The unmodified `pie-client` 0.4.0 from the package index, its library."""

import asyncio
import json
import sys

import pytest
from pie_client import Event, PieClient

from tests.server.running import write_program

pytestmark = pytest.mark.timeout(30)


async def events(process):
    """All events until the last."""
    found = []
    while not found or found[-1][0] not in (Event.Return, Event.Error):
        found.append(await process.recv())
    return found


def do(what, **more):
    return {"do": what, **more}


async def test_ping(client):
    await client.ping()


async def test_authenticating_twice_is_no_error(client):
    await client.authenticate("ada")
    await client.authenticate("bob")  # 1.4


async def test_output_messages_and_the_result_arrive(client):
    process = await client.launch_process("player@0.1.0", do("talk"))
    found = await events(process)
    assert (Event.Stdout, "out\n") in found
    assert (Event.Stderr, "err\n") in found
    assert (Event.Message, '{"a":1}') in found
    assert found[-1] == (Event.Return, '{"done": true}')


async def test_a_program_generates_tokens(client):
    process = await client.launch_process("player", do("generate"))
    assert await events(process) == [(Event.Return, "4")]


async def test_signals_reach_the_program(client):
    process = await client.launch_process("player", do("echo"))
    await process.signal("hello")
    assert (await process.recv()) == (Event.Message, "hello")


@pytest.mark.parametrize("size", [0, 1, 256 * 1024, 700_001])
async def test_files_go_both_ways(client, size):
    process = await client.launch_process("player", do("file"))
    data = bytes(range(256)) * (size // 256) + bytes(range(size % 256))
    await process.transfer_file(data)
    assert await events(process) == [(Event.File, data[::-1]), (Event.Return, "sent")]  # 1.5


async def test_a_file_sent_at_once_is_never_lost(client):
    for _ in range(10):
        processes = await client.launch_processes("player", [do("files", n=3, size=300_000)] * 4)
        for process in processes:
            found = await events(process)
            assert [value for event, value in found if event is Event.File] == [
                bytes([number]) * 300_000 for number in range(3)
            ]  # 1.5


async def test_a_failure_is_an_error_event(client):
    process = await client.launch_process("player", do("fail"))
    found = await events(process)
    assert found[-1] == (Event.Error, "no")
    assert "ValueError: no" in "".join(value for event, value in found if event is Event.Stderr)


async def test_a_process_goes_on_when_its_client_leaves_and_can_be_attached_again(server):
    async with PieClient(server.url) as first:
        await first.authenticate("ada")
        process = await first.launch_process("player", do("echo"))
    async with PieClient(server.url) as second:
        await second.authenticate("ada")
        again = await second.attach_process(process.process_id)
        await again.signal("still there")
        assert (await again.recv()) == (Event.Message, "still there")  # 1.8


async def test_a_finished_process_can_be_attached_and_tells_what_was_missed(server):
    async with PieClient(server.url) as first:
        await first.authenticate("ada")
        process = await first.launch_process("player", do("count", n=3), capture_outputs=False)
        while any(row["id"] == process.process_id for row in await first.list_processes()):
            pass
    async with PieClient(server.url) as second:  # the first would divide the events between its two queues
        await second.authenticate("ada")
        again = await second.attach_process(process.process_id)
        assert [value for _, value in await events(again)] == ["0", "1", "2", "counted"]


async def test_termination(client):
    process = await client.launch_process("player", do("wait"))
    assert (await process.recv()) == (Event.Message, "waiting")
    await process.terminate()
    assert (await process.recv()) == (Event.Error, "Signal")
    with pytest.raises(Exception, match="Process not found"):
        await process.terminate()


async def test_listed_processes_have_the_documented_keys(client):
    process = await client.launch_process("player", do("wait"))
    await process.recv()
    (row,) = [row for row in await client.list_processes() if row["id"] == process.process_id]
    assert row["username"] == "ada"
    assert row["program"] == "player@0.1.0"
    assert json.loads(row["input"]) == do("wait")
    assert isinstance(row["elapsed_secs"], int)
    await process.terminate()


async def test_installing_checking_and_launching_an_own_program(client, tmp_path):
    source = "async def main(input):\n    return input\n"
    program, manifest = write_program(tmp_path / "a", "own", source)
    assert await client.check_program("own@0.1.0") is False
    await client.install_program(program, manifest)
    assert await client.check_program("own@0.1.0", program, manifest) is True
    await client.install_program(program, manifest)
    program.write_text(source + "# changed\n")
    assert await client.check_program("own@0.1.0", program, manifest) is False
    with pytest.raises(Exception, match="already installed with different contents"):
        await client.install_program(program, manifest)
    await client.install_program(program, manifest, force_overwrite=True)
    process = await client.launch_process("own@0.1.0", {"x": [1]})
    assert await events(process) == [(Event.Return, '{"x": [1]}')]


async def test_an_upload_in_several_chunks(client, tmp_path):
    program, manifest = write_program(
        tmp_path / "b", "long", f'text = "{"x" * 600_000}"\nasync def main(input): pass\n'
    )
    await client.install_program(program, manifest)
    assert await client.check_program("long@0.1.0", program, manifest)


async def test_a_manifest_with_windows_line_ends(client, tmp_path):
    program, manifest = write_program(tmp_path / "c", "lines", "async def main(input): pass\n")
    manifest.write_bytes(manifest.read_bytes().replace(b"\n", b"\r\n"))
    await client.install_program(program, manifest)
    assert await client.check_program("lines@0.1.0", program, manifest)


async def test_batches(client):
    processes = await client.launch_processes(
        "player", [do("value", value=n) for n in range(3)], token_budgets=[5, None, 7]
    )
    assert [await events(process) for process in processes] == [[(Event.Return, str(n))] for n in range(3)]
    values = await client.run_processes("player", [do("value", value=n) for n in "abc"])
    assert values == ["a", "b", "c"]
    with pytest.raises(Exception, match="Failed to run processes: no"):
        await client.run_processes("player", [do("wait"), do("fail")])
    with pytest.raises(Exception, match="token_budgets length 1 does not match inputs length 2"):
        await client.launch_processes("player", [{}, {}], token_budgets=[1])


async def test_run_processes_holds_up_nobody(client):
    long = asyncio.create_task(client.run_processes("player", [do("wait")]))
    await client.ping()
    await client.ping()
    long.cancel()  # 1.6


async def test_refusals_say_why(client):
    with pytest.raises(Exception, match="program 'nobody@latest' is not installed"):
        await client.launch_process("nobody")
    with pytest.raises(Exception, match="NaN is not allowed"):
        await client.launch_process("player", {"x": float("nan")})
    with pytest.raises(Exception, match="Process not found"):
        await client.attach_process("00000000-0000-4000-8000-000000000000")
    with pytest.raises(Exception, match="Invalid process_id"):
        await client.attach_process("nonsense")


async def test_queries(client):
    ok, answer = await client.query("engine_info", "")
    assert ok
    assert json.loads(answer)["product"] == "pie-mlx"
    ok, answer = await client.query("model_status", "")
    assert json.loads(answer)["dummy.kv_pages_total"] > 0
    assert json.loads(answer)["dummy.adapter_bytes"] == 0
    ok, answer = await client.query("adapters", "")
    assert json.loads(answer) == {"adapters": []}
    ok, answer = await client.query("nonsense", "")
    assert not ok
    assert "Unknown query subject 'nonsense'; known: " in answer


MCP_SERVER = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    if request["method"] == "tools/call":
        arguments = request["params"]["arguments"]
        result = {"content": [{"type": "text", "text": str(arguments["a"] + arguments["b"])}]}
    else:
        result = {}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""


async def test_mcp_tools_run_at_the_client(client, tmp_path):
    (tmp_path / "tools.py").write_text(MCP_SERVER)
    await client.register_mcp_server("tools", "stdio", command=sys.executable, args=[str(tmp_path / "tools.py")])
    process = await client.launch_process("player", do("mcp"))
    (event, value) = (await events(process))[-1]
    assert event is Event.Return, value
    assert json.loads(value)["content"][0]["text"] == "3"  # 1.10
    process = await client.launch_process("player", do("child", child="mcp"))
    assert json.loads((await events(process))[-1][1])["content"][0]["text"] == "3"


async def test_the_local_engine_resolves_versions(server, client):
    found = await asyncio.to_thread(lambda: asyncio.run(PieClient(server.url).resolve_version("player", server.http)))
    assert found == "player@0.1.0"  # 1.11
