"""Programs in JavaScript answer requests: a standard Request in, a standard Response out."""

import asyncio
import json

import pytest

from pie_mlx.calls import HttpRequest
from pie_mlx.errors import InvalidArgumentError, InvalidTypeError, LaunchError, ProcessError, SessionClosedError
from pie_mlx.runtime.daemon import HttpExchange
from pie_mlx.runtime.daemon.exchange import WINDOW_BYTES
from pie_mlx.runtime.execution.entry import program_entry
from pie_mlx.runtime.program.program import find_program, handles_requests
from pie_mlx.server.http.daemon import with_request_handler

pytestmark = pytest.mark.asyncio(loop_scope="module")

REQUEST = HttpRequest("POST", "/a/b", "x=1&y=%20&x=2", [("host", "a.example"), ("accept", "b")], b"\x00\xff")


@pytest.fixture
def serve(engine, program):
    """The exchange of a request with a handler, and the process that answers."""

    async def ask(source, request=REQUEST, input=None):
        entry = program_entry(with_request_handler(find_program(program(source))))
        exchange = HttpExchange(request)
        process = await engine.launch(entry, input or {}, http=exchange)
        return exchange, process

    return ask


async def whole(exchange, process):
    """Status, headers and body."""

    async def ended():
        exchange.end(getattr(await process.outcome(), "error", None))

    ending = asyncio.create_task(ended())
    status, headers = await exchange.head()
    body = b"".join([piece async for piece in exchange.body()])
    await ending
    return status, headers, body


async def test_a_handler_sees_the_request_and_the_input(serve):
    source = """
        export async function handle(request, input) {
          const { pathname, searchParams } = new URL(request.url);
          const body = [...new Uint8Array(await request.arrayBuffer())];
          const host = request.headers.get('host');
          return Response.json([request.method, pathname, searchParams.getAll('x'), host, body, input.n]);
        }
        """
    status, headers, body = await whole(*await serve(source, input={"n": 3}))
    assert (status, dict(headers)["content-type"]) == (200, "application/json")
    assert json.loads(body) == ["POST", "/a/b", ["1", "2"], "a.example", [0, 255], 3]


@pytest.mark.parametrize(
    ("answer", "status", "fields", "data"),
    [
        ("new Response('é')", 200, [("content-type", "text/plain;charset=UTF-8")], "é".encode()),
        ("new Response(null, { status: 204 })", 204, [], b""),
        (
            "new Response(new Uint8Array([1]), { headers: { 'X-A': 'b', 'Content-Length': '9' } })",
            200,
            [("x-a", "b")],
            b"\1",
        ),
        (
            "new Response('', { headers: [['Set-Cookie', 'a=1'], ['Set-Cookie', 'b=2'], ['Content-Type', 'x/y']] })",
            200,
            [("content-type", "x/y"), ("set-cookie", "a=1"), ("set-cookie", "b=2")],
            b"",
        ),
    ],
)
async def test_a_response_is_sent_as_it_is(serve, answer, status, fields, data):
    source = f"export const handle = () => {answer};"
    assert await whole(*await serve(source, HttpRequest("GET", "/"))) == (status, fields, data)


async def test_pieces_arrive_in_order_and_before_the_last_is_made(serve):
    source = """
        import { session } from 'inferlet';
        async function* pieces() {
          for (let number = 0; number < 50; number++) yield `${number},`;
          await session.receive();
          yield 'end';
        }
        export const handle = async () => new Response(ReadableStream.from(pieces()));
        """
    exchange, process = await serve(source)
    read = b""
    async for piece in exchange.body():
        read += piece
        if read.endswith(b"49,"):
            process.send("go on")
    assert read.decode() == "".join(f"{n}," for n in range(50)) + "end"
    await process.result()


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        ("'text'", InvalidTypeError, "handle: answered String"),
        ("undefined", InvalidTypeError, "handle: answered undefined"),
        ("Response.error()", InvalidArgumentError, "0 is not a valid status"),
        ("new Response(ReadableStream.from([1]))", InvalidTypeError, "a piece of the body is of type number"),
    ],
)
async def test_what_is_no_answer_fails(serve, answer, error, message):
    with pytest.raises(error, match=message):
        await whole(*await serve(f"export const handle = async () => {answer};"))


async def test_a_failure_in_the_middle_breaks_the_stream_after_what_was_made(serve):
    source = """
        async function* pieces() {
          yield 'some';
          throw new RangeError('no more');
        }
        export const handle = async () => new Response(ReadableStream.from(pieces()));
        """
    exchange, process = await serve(source)
    read = list[bytes]()

    async def keep():
        async for piece in exchange.body():
            read.append(piece)

    exchange.end((await process.outcome()).error)
    with pytest.raises(ProcessError, match="no more"):
        await keep()
    assert read == [b"some"]


async def test_a_client_that_hangs_up_stops_a_program_that_writes(serve):
    source = f"""
        async function* pieces() {{
          try {{
            for (;;) yield new Uint8Array({WINDOW_BYTES});
          }} finally {{
            console.log('tidied');
          }}
        }}
        export const handle = async () => new Response(ReadableStream.from(pieces()));
        """
    exchange, process = await serve(source)
    await exchange.head()
    exchange.hang_up()
    with pytest.raises(SessionClosedError):
        await process.result()


async def test_a_handler_is_not_run_with_an_input(engine, program):
    with pytest.raises(LaunchError, match=r"answers HTTP requests .* cannot be run with an input"):
        await engine.run(program("export async function handle(request) {}"))


@pytest.mark.parametrize(
    ("source", "handles"),
    [
        ("export async function handle(request) {}", True),
        ("export const handle = app.fetch;", True),
        ("const handle = 1;\nexport { other as handle, main };", True),
        ("export { main, handle };", True),
        ("export * from './routes.js'", True),
        ("export async function main() { const handle = 1; }", False),
        ("export async function handler() {}\nexport async function main() {}", False),
    ],
)
async def test_a_program_that_exports_a_handler_can_be_served(program, source, handles):
    assert handles_requests(find_program(program(source + "\n// main"))) == handles
