/** Sessions, messages, MCP, children and figures: what is sent, and what becomes of the answers. */

import {
  Context,
  errors,
  mcp,
  messaging,
  Model,
  runtime,
  scheduling,
  session,
} from '../../../pie_mlx/javascript/inferlet/index.mjs';
import { assert, MODEL, playEngine, test } from './testing.mjs';

test('a message is sent as it is, anything else as JSON', () => {
  const calls = playEngine({ send_message: () => null });
  session.send('hi');
  session.send({ n: [1, 'ü'] });
  assert.deepEqual(calls, [
    ['send_message', { text: 'hi' }],
    ['send_message', { text: '{"n":[1,"ü"]}', format: 'json' }],
  ]);
});

test('values that JSON cannot hold are refused before they are sent', () => {
  const calls = playEngine({});
  const ring = {};
  ring.ring = ring;
  for (const value of [NaN, { a: Infinity }, 1n, undefined, () => 1, [Promise.resolve(1)], ring]) {
    assert.throws(() => session.send(value), errors.InvalidTypeError);
  }
  assert.throws(() => session.send('\ud800'), errors.InvalidArgumentError);
  assert.deepEqual(calls, []);
});

test('files are bytes', () => {
  const calls = playEngine({ send_file: () => null });
  session.sendFile(new Uint8Array([1, 2]), 'a.bin');
  session.sendFile(new Uint8Array([3]).buffer);
  assert.deepEqual(
    calls.map(([, fields]) => [[...fields.data], fields.name]),
    [
      [[1, 2], 'a.bin'],
      [[3], ''],
    ],
  );
  assert.throws(() => session.sendFile('text'), errors.InvalidTypeError);
});

test('receiving waits and takes, and waits again when another took the message', async () => {
  const inbox = [null, 'hello'];
  const calls = playEngine({ await_incoming: () => null, receive_message: () => inbox.shift() });
  assert.equal(await session.receive(), 'hello');
  assert.deepEqual(
    calls.map(([name]) => name),
    ['await_incoming', 'receive_message', 'await_incoming', 'receive_message'],
  );
});

test('an aborted wait takes no message', async () => {
  const calls = playEngine({ await_incoming: () => new Promise(() => {}) });
  const stop = new AbortController();
  const waiting = session.receive({ signal: stop.signal });
  stop.abort(new Error('enough'));
  await assert.rejects(waiting, /enough/);
  assert.deepEqual(
    calls.map(([name]) => name),
    ['await_incoming'],
  );
});

test('pulling takes at once, else waits in line with a ticket', async () => {
  const queue = [null, 'b'];
  const calls = playEngine({ take_message: () => queue.shift(), await_message: () => null });
  assert.equal(await messaging.pull('jobs'), 'b');
  const [[, first], [, line], [, taken]] = calls;
  assert.deepEqual(first, { topic: 'jobs' });
  assert.equal(line.ticket, taken.ticket);
});

test('an aborted pull gives its ticket back', async () => {
  const calls = playEngine({
    take_message: () => null,
    await_message: () => new Promise(() => {}),
    leave_topic: () => null,
  });
  const stop = new AbortController();
  const waiting = messaging.pull('jobs', { signal: stop.signal });
  stop.abort(new Error('enough'));
  await assert.rejects(waiting, /enough/);
  assert.equal(calls.at(-1)[0], 'leave_topic');
  assert.equal(calls.at(-1)[1].ticket, calls[1][1].ticket);
});

test('a subscription is an async iterable that ends when it is closed', async () => {
  const inbox = ['a', null, 'b'];
  const calls = playEngine({
    subscribe: () => 3,
    read_subscription: () => inbox.shift() ?? null,
    await_broadcast: () => inbox.length > 0,
    count_dropped: () => 2,
    unsubscribe: () => null,
  });
  const seen = [];
  {
    using news = messaging.subscribe('news');
    for await (const text of news) seen.push(text);
    assert.equal(news.topic, 'news');
  }
  assert.deepEqual(seen, ['a', 'b']);
  assert.deepEqual(calls.at(-1), ['unsubscribe', { subscription: 3 }]);
});

test('a closed subscription gives nothing and remembers what was dropped', async () => {
  playEngine({ subscribe: () => 3, count_dropped: () => 2, unsubscribe: () => null });
  const news = messaging.subscribe('news');
  news.unsubscribe();
  news.unsubscribe();
  assert.equal(await news.next(), undefined);
  assert.equal(news.dropped, 2);
});

test('MCP arguments cross as they were written, or as JSON', async () => {
  const calls = playEngine({ connect_mcp: () => null, call_mcp: () => '{}', list_mcp_servers: () => ['s'] });
  assert.deepEqual(mcp.availableServers(), ['s']);
  const server = mcp.connect('s');
  server.callTool('f', '{"a": 1.0}');
  server.getPrompt('p', { b: 'c' });
  server.readResource('file:///x');
  await server.request('tools/list');
  const sent = calls.slice(2).map(([, { method, params }]) => [method, params]);
  assert.deepEqual(sent, [
    ['tools/call', '{"name":"f","arguments":{"a": 1.0}}'],
    ['prompts/get', '{"name":"p","arguments":{"b":"c"}}'],
    ['resources/read', '{"uri":"file:///x"}'],
    ['tools/list', '{}'],
  ]);
});

test('MCP arguments that are no object are refused with the code of JSON-RPC', () => {
  playEngine({ connect_mcp: () => null });
  const server = mcp.connect('s');
  for (const args of ['[1]', '{', 'null', 7, [1], { a: NaN }]) {
    assert.throws(
      () => server.callTool('f', args),
      (error) => error instanceof errors.McpError && error.rpcCode === -32602,
    );
  }
  server.close();
  assert.throws(() => server.listTools(), { rpcCode: -32000, code: 'mcp' });
});

test('a child gives its value, its error or its cancellation', async () => {
  const outcomes = [
    { state: 'returned', value: '{"a":1}', format: 'json' },
    { state: 'returned', value: 'x', format: 'text' },
    { state: 'returned' },
    { state: 'failed', error_type: 'TypeError', message: 'no' },
    { state: 'cancelled', message: 'late' },
  ];
  playEngine({ launch_child: () => 'pid', await_child: () => outcomes.shift() });
  const child = runtime.launch('p');
  assert.deepEqual([await child.result(), await child.result()], [{ a: 1 }, { a: 1 }]);
  assert.equal(await runtime.launch('p').result(), 'x');
  assert.equal(await runtime.launch('p').result(), undefined);
  await assert.rejects(runtime.launch('p').result(), {
    code: 'child_failed',
    childType: 'TypeError',
    childMessage: 'no',
  });
  await assert.rejects(runtime.launch('p').result(), errors.ProcessCancelledError);
});

test('the input of a child is an object, JSON text of one, or a text', () => {
  const calls = playEngine({ launch_child: () => 'pid' });
  for (const input of [undefined, { a: 1 }, '{"b": 2}', '[1]', 'plain']) runtime.spawn('p', input);
  assert.deepEqual(
    calls.map(([, { input }]) => input),
    ['{}', '{"a":1}', '{"b": 2}', '{"input":"[1]"}', '{"input":"plain"}'],
  );
});

test('figures of the market and facts of the runtime are read when they are asked for', () => {
  const market = { balance: 5, rent: 1, dividend: 2, latency_seconds: 3, page_price: 4 };
  const facts = { version: '1', instance_id: 'i', username: 'ada', models: ['m', 'n'], loading: { n: 0.5 } };
  const states = () => [{ name: 'm', state: 'loaded', programs: 2 }];
  const answers = { read_market: () => market, describe_runtime: () => facts, describe_models: states };
  const calls = playEngine({ ...MODEL, ...answers });
  const model = Model.load('m');
  const ctx = new Context(model);
  const read = [
    scheduling.balance(model),
    scheduling.rent(ctx),
    scheduling.dividend(model),
    scheduling.latency(ctx),
    scheduling.price(),
  ];
  assert.deepEqual(read, [5, 1, 2, 3, 4]);
  assert.deepEqual(calls.at(-2), ['read_market', { context: 7 }]);
  assert.deepEqual(
    [runtime.version(), runtime.instanceId(), runtime.username(), runtime.models(), runtime.loadingModels()],
    ['1', 'i', 'ada', ['m', 'n'], { n: 0.5 }],
  );
  const [state] = runtime.modelStates();
  assert.deepEqual([state.name, state.state, state.programs, state.stays], ['m', 'loaded', 2, '']);
  assert.throws(() => scheduling.balance('m'), errors.InvalidTypeError);
  assert.throws(() => scheduling.rent('c'), errors.InvalidTypeError);
});
