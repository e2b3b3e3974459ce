/** What JavaScript adds: scopes, garbage, passes at the same time, arrays, errors. */

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {
  Adapter,
  brle,
  Context,
  errors,
  Forward,
  Generator,
  Grammar,
  GrammarConstraint,
  jsonSchema,
  Logits,
  Matcher,
  Model,
  regex,
  Sampler,
  zo,
} from '../../../pie_mlx/javascript/inferlet/index.mjs';
import { assert, MODEL, playEngine, test } from './testing.mjs';

const counters = (working_tokens) => ({ working: 1, working_tokens });
const drawn = (...tokens) => ({ result: 'sampled_tokens', tokens });
const turns = { render_turn: () => ({ tokens: [5, 6], state: { last: 'user' } }) };

test('the end of using releases a context, and later use is an error', () => {
  const calls = playEngine({ ...MODEL, ...turns });
  const model = Model.load('m');
  let kept;
  {
    using ctx = new Context(model);
    kept = ctx;
  }
  assert.deepEqual(calls.at(-1), ['release_context', { context: 7, claimed: 0 }]);
  assert.throws(() => kept.user('x'), errors.ContextReleasedError);
});

test('contexts, matchers and children that are garbage are given back', async () => {
  const calls = playEngine({
    ...MODEL,
    compile_grammar: () => ({ matcher: 4 }),
    fork_matcher: () => null,
    release_matcher: () => null,
  });
  const model = Model.load('m');
  (() => [new Context(model), GrammarConstraint.fromRegex('a', model)])();
  for (let turn = 0; turn < 20 && calls.filter(([name]) => name.startsWith('release')).length < 2; turn += 1) {
    globalThis.gc();
    await new Promise(setImmediate);
  }
  assert.deepEqual(
    calls
      .filter(([name]) => name.startsWith('release'))
      .map(([name]) => name)
      .sort(),
    ['release_context', 'release_matcher'],
  );
});

test('a generator keeps its context alive', async () => {
  const calls = playEngine({ ...MODEL, ...turns, forward: () => ({ results: [drawn(1)], counters: counters(2) }) });
  const text = (() => new Context(Model.load('m')).user('x').generate(Sampler.argmax()))();
  globalThis.gc();
  await new Promise(setImmediate);
  assert.deepEqual([...(await text.collectTokens())], []);
  assert.equal(
    calls.some(([name]) => name === 'release_context'),
    false,
  );
});

test('replies that come out of order leave the newest counters', async () => {
  const waiting = [];
  playEngine({ ...MODEL, forward: () => new Promise((resolve) => waiting.push(resolve)) });
  const ctx = new Context(Model.load('m'));
  const first = ctx.append([9]).flush();
  const second = ctx.append([8, 7]).flush();
  assert.equal(ctx.buffer().length, 0);
  waiting[1]({ results: [], counters: counters(3) });
  await second;
  waiting[0]({ results: [], counters: counters(1) });
  await first;
  assert.equal(ctx.seqLen, 3);
});

test('tokens of a failed flush come before those buffered since', async () => {
  playEngine({ ...MODEL, forward: () => Promise.reject(new errors.BatchFailedError('lost')) });
  const ctx = new Context(Model.load('m'));
  const failing = ctx.append([9]).flush();
  ctx.append([8]);
  await assert.rejects(failing, { code: 'batch_failed' });
  assert.deepEqual([...ctx.buffer()], [9, 8]);
});

test('a step that runs is not taken again', async () => {
  playEngine({ ...MODEL, ...turns, forward: () => new Promise(() => {}) });
  const text = new Context(Model.load('m')).user('x').generate(Sampler.argmax());
  const steps = text[Symbol.asyncIterator]();
  void (await steps.next()).value.execute();
  await assert.rejects(steps.next(), errors.ContextBusyError);
});

test('tokens and masks may be any iterable, and come back as typed arrays', async () => {
  const calls = playEngine({
    ...MODEL,
    encode: () => [3, 4],
    forward: () => ({ results: [drawn(2), drawn(3)], counters: counters(3) }),
  });
  const model = Model.load('m');
  const ctx = new Context(model).append(new Set([1, 2])).append(model.tokenizer().encode('x'));
  assert.ok(ctx.buffer() instanceof Uint32Array);
  const pass = ctx.forward().input(new Uint32Array([9, 8]));
  const handle = pass.mask(Uint32Array.of(0, 50)).sample(new Set([0, 1]), Sampler.argmax());
  const out = await pass.execute();
  assert.deepEqual(out.tokensAt(handle), Uint32Array.of(2, 3));
  assert.equal(out.token(handle), undefined);
  assert.deepEqual(calls.at(-1)[1].pending, [1, 2, 3, 4]);
});

test('logits come as bytes and are read as floats', async () => {
  const data = new Uint8Array(new Float32Array([1.5, -2]).buffer);
  playEngine({ ...MODEL, forward: () => ({ results: [{ result: 'raw_logits', data }], counters: counters(1) }) });
  const pass = new Context(Model.load('m')).forward().input([1]);
  const handle = pass.probe(0, Logits());
  const out = await pass.execute();
  assert.deepEqual([...new Float32Array(out.logits(handle).buffer)], [1.5, -2]);
  assert.equal(out.entropy(handle), undefined);
});

test('a value of a schema is parsed, then made by parse, whose error carries the text', async () => {
  let text = '{"a": 1}';
  const tools = {
    compile_grammar: () => ({ matcher: 4 }),
    fork_matcher: () => null,
    release_matcher: () => null,
    decode: () => text,
  };
  playEngine({
    ...MODEL,
    ...turns,
    ...tools,
    forward: () => ({ results: [drawn(9, 1)], counters: counters(3), grammar_terminated: true }),
  });
  const json = (options) => new Context(Model.load('m')).user('x').generate(Sampler.argmax()).collectJson(options);
  assert.deepEqual(await json({ schema: { type: 'object' } }), { a: 1 });
  assert.equal(await json({ parse: ({ a }) => a + 1 }), 2);
  const parse = () => {
    throw new Error('not mine');
  };
  await assert.rejects(json({ parse }), { code: 'structured_output', text, message: /not mine/ });
  text = '{"a": 1e999}';
  await assert.rejects(json(), errors.StructuredOutputError);
});

test('arguments of a wrong kind are named', () => {
  playEngine({ ...MODEL, ...turns });
  const model = Model.load('m');
  const ctx = new Context(model);
  const refused = [
    [() => new Context('m'), /model: got string/],
    [() => ctx.append('text'), /tokens: got string/],
    [() => ctx.append([1.5]), /tokens: 1.5/],
    [() => ctx.append([1, '2']), /tokens: string/],
    [() => ctx.user(7), /user: got number/],
    [() => ctx.generate({ temperature: 1 }), /sampler: got Object/],
    [() => ctx.generate(Sampler.argmax(), { adapter: 'a' }), /adapter: got string/],
    [() => ctx.generate(Sampler.argmax(), { constrain: 'x' }), /string is neither a Schema nor a Constraint/],
    [() => ctx.forward().probe(0, Sampler.argmax()), /probe: got Sampler/],
    [() => Sampler.topP('hot'), /temperature: got string/],
    [() => jsonSchema(5), /schema: got number/],
    [() => regex(/a/i), /flags/],
    [() => brle.canonical([0.5]), /mask: 0.5/],
  ];
  for (const [work, message] of refused)
    assert.throws(work, (error) => error instanceof errors.InvalidTypeError && message.test(error.message));
  assert.throws(() => ctx.append([100]), errors.InvalidArgumentError);
  assert.throws(() => ctx.generate(Sampler.argmax(), { maxTokens: -1 }), errors.InvalidArgumentError);
});

test('errors form a tree, and say what to do', () => {
  const error = errors.errorFromCode('out_of_pages', 'pages: too few', 'release some', { needed: 3, capacity: 2 });
  assert.ok(
    error instanceof errors.OutOfPagesError && error instanceof errors.PageError && error instanceof errors.PieError,
  );
  assert.deepEqual(
    [error.name, error.code, error.hint, error.needed, error.capacity],
    ['OutOfPagesError', 'out_of_pages', 'release some', 3, 2],
  );
  assert.match(error.stack, /^OutOfPagesError: pages: too few/);
  assert.equal(errors.errorFromCode('of_the_future', 'x').constructor, errors.PieError);
});

test('a grammar that was compiled is copied when it is needed again', () => {
  const calls = playEngine({ ...MODEL, compile_grammar: () => ({ matcher: 4 }), fork_matcher: () => null });
  const model = Model.load('m');
  const [one, two] = [1, 2].map(() => new Matcher(Grammar.fromRegex('a'), model.tokenizer()));
  assert.notEqual(one.id, two.id);
  assert.deepEqual(
    calls.map(([name]) => name),
    ['load_model', 'compile_grammar', 'fork_matcher', 'fork_matcher'],
  );
});

test('seeds have 64 bits', () => {
  const calls = playEngine({ ...MODEL, forward: () => ({ results: [], counters: counters(1) }) });
  const pass = new Context(Model.load('m')).forward().input([1]);
  assert.equal(Sampler.topK(1, 5, { seed: 2n ** 63n }).read.seed, 2n ** 63n);
  assert.throws(() => Sampler.topK(1, 5, { seed: 2n ** 64n }), errors.InvalidArgumentError);
  assert.throws(() => pass.zoSeed(2n ** 63n), errors.InvalidArgumentError);
  pass.zoSeed(-(2n ** 63n));
  assert.deepEqual(
    calls.map(([name]) => name),
    ['load_model', 'create_context'],
  );
});

test('an adapter travels in parts, and its folder is what mlx-lm reads', () => {
  const weights = new Uint8Array((4 << 20) + 3).fill(7);
  const parts = [];
  const state = { adapter: 2, name: 'a' };
  playEngine({
    ...MODEL,
    create_adapter: () => state,
    read_adapter: ({ offset = 0 }) => ({
      config: '{"r": 1}',
      size_bytes: weights.length,
      data: weights.subarray(offset, offset + (4 << 20)),
    }),
    load_adapter: ({ offset, data, config }) => {
      parts.push([offset, data.length, config]);
      return offset === 0 ? null : { ...state, version: 1, size_bytes: weights.length };
    },
  });
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'adapter-'));
  using adapter = Adapter.create(Model.load('m'), 'a');
  adapter.save(folder);
  assert.deepEqual(fs.readdirSync(folder).sort(), ['adapter_config.json', 'adapters.safetensors']);
  adapter.load(folder);
  assert.deepEqual(parts, [
    [0, 4 << 20, '{"r": 1}'],
    [4 << 20, 3, '{"r": 1}'],
  ]);
  assert.equal(adapter.sizeBytes, weights.length);
  fs.rmSync(folder, { recursive: true });
  assert.throws(() => adapter.load(folder), { code: 'ENOENT' });
});

test('a closed adapter handle is an error, the adapter stays', () => {
  const calls = playEngine({ ...MODEL, open_adapter: ({ name }) => (name === 'a' ? { adapter: 2, name } : null) });
  const model = Model.load('m');
  const adapter = Adapter.open(model, 'a');
  adapter[Symbol.dispose]();
  assert.throws(() => adapter.destroy(), errors.AdapterNotFoundError);
  assert.equal(Adapter.open(model, 'b'), undefined);
  assert.equal(
    calls.some(([name]) => name === 'destroy_adapter'),
    false,
  );
});

test('an evolution has defaults, and a single target is a mistake', () => {
  const state = { adapter: 2, name: 'a', version: 1 };
  const calls = playEngine({
    ...MODEL,
    create_adapter: () => state,
    initialize_evolution: () => state,
    update_evolution: () => state,
  });
  const adapter = Adapter.create(Model.load('m'), 'a');
  zo.initialize(adapter, { rank: 2 });
  zo.update(adapter, [1, 0.5], [3n, 4], 0.1);
  assert.deepEqual(calls.at(-2)[1].targets, ['q_proj', 'k_proj', 'v_proj']);
  assert.deepEqual(calls.at(-1)[1], { adapter: 2, scores: [1, 0.5], seeds: [3n, 4], max_sigma: 0.1 });
  assert.throws(() => zo.initialize(adapter, { targets: 'q_proj' }), errors.InvalidTypeError);
});

test('texts become vectors in their order, a number of them at a time', async () => {
  const calls = playEngine({
    ...MODEL,
    embed: async ({ texts }) => ({
      vectors: new Uint8Array(new Float32Array(texts.flatMap((text) => [text.length, 0.5])).buffer),
      dimensions: 2,
      tokens: texts.map((text) => text.length),
    }),
  });
  const vectors = await Model.load('m').embed(['abc', [4]], { promptName: 'query', dimensions: 2 });
  assert.deepEqual([vectors.map((vector) => [...vector]), vectors.tokenCounts], [[[3, 0.5], [1, 0.5]], [3, 1]]);
  assert.partialDeepStrictEqual(calls.at(-1)[1], { texts: ['abc', [4]], prompt_name: 'query', dimensions: 2, pooling: null });
  const many = Array.from({ length: 300 }, (_, place) => 'x'.repeat((place % 7) + 1));
  assert.deepEqual((await Model.load('m').embed(many)).tokenCounts, many.map((text) => text.length));
  assert.deepEqual(calls.slice(-3).map(([, { texts }]) => texts.length), [128, 128, 44]);
  await assert.rejects(Model.load('m').embed(['abc'], { pooling: 'first' }), errors.InvalidArgumentError);
  await assert.rejects(Model.load('m').embed(['abc'], { dimensions: 0 }), errors.InvalidArgumentError);
  await assert.rejects(Model.load('m').embed('abc'), errors.InvalidTypeError);
});

test('documents are ranked by their scores', async () => {
  const scores = { a: 0.2, b: 0.9, c: 0.4 };
  playEngine({
    ...MODEL,
    rerank: async ({ documents }) => ({ scores: documents.map((text) => scores[text]), tokens: documents.map(() => 5) }),
  });
  const ranking = await Model.load('m').rerank('q', ['a', 'b', 'c'], { topN: 2 });
  assert.deepEqual([...ranking], [{ index: 1, score: 0.9 }, { index: 2, score: 0.4 }]);
  assert.deepEqual(ranking.tokenCounts, [5, 5, 5]);
  await assert.rejects(Model.load('m').rerank('q', 'abc'), errors.InvalidTypeError);
});

test('snapshots can be looked for before they are opened', async () => {
  const calls = playEngine({
    ...MODEL,
    open_snapshot: ({ name }) => (name === 'a' ? { state: { context: 9 }, pending: { tokens: [1] } } : null),
    prefetch_context: () => true,
  });
  const model = Model.load('m');
  assert.deepEqual([await Context.prefetchSaved(model, 'a'), await Context.prefetchSaved(model, 'b')], [true, false]);
  assert.deepEqual(
    calls.filter(([name]) => name === 'release_context').map(([, { context }]) => context),
    [9],
  );
});

test('classes that programs get from others are exported for instanceof', () => {
  playEngine({ ...MODEL, ...turns });
  const ctx = new Context(Model.load('m'));
  assert.ok(ctx.forward() instanceof Forward);
  assert.ok(ctx.generate(Sampler.argmax()) instanceof Generator);
});
