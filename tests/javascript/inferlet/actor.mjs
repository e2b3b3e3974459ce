/** Acts programs that are data, with the replies that the engine gave the Python SDK. */

import { replaceHost } from '../../../pie_mlx/javascript/inferlet/_calls/host.mjs';
import { errorFromCode, PieError } from '../../../pie_mlx/javascript/inferlet/errors.mjs';
import * as inferlet from '../../../pie_mlx/javascript/inferlet/index.mjs';

const EXPORTS = ['Context', 'Grammar', 'Matcher', 'Model', 'chat'];
const RELEASES = ['release_matcher', 'release_context'];

/** The results of a program's acts, and the calls that it made. */
export async function actProgram({ acts, crossed }) {
  const host = new ScriptedHost(crossed);
  replaceHost(host);
  const objects = new Map();
  const results = [];
  for (const act of acts) results.push(plain(await settled(() => acted(act, objects))));
  return { results, calls: host.calls };
}

/** Answers each call by the next reply, if it is of that kind: the calls are compared afterwards. */
class ScriptedHost {
  calls = [];
  #replies;

  constructor(crossed) {
    this.#replies = crossed.filter(({ posted }) => !posted);
  }

  callNow(name, fields) {
    this.calls.push(plain({ call: name, ...fields }));
    const { call, reply, error } = this.#replies.shift() ?? {};
    if (call?.call !== name) throw new PieError(`${name}: the recorded program calls ${call?.call}`);
    if (error !== undefined) throw errorFromCode(...error);
    return received(reply);
  }

  async call(name, fields) {
    return this.callNow(name, fields);
  }

  post(name, fields) {
    if (!RELEASES.includes(name)) this.calls.push(plain({ call: name, ...fields }));
  }
}

async function settled(work) {
  try {
    return await work();
  } catch (error) {
    if (error instanceof PieError) return { error: error.code };
    throw error;
  }
}

async function acted(act, objects) {
  if (act.call === 'fail') return null; // the recorded engine fails
  if (!objects.has(act.on) && !EXPORTS.includes(act.on)) return 'missing';
  const found = await done(act, objects.get(act.on) ?? inferlet[act.on], objects);
  if (act.as !== undefined && found !== undefined && found !== 'end') objects.set(act.as, found);
  return found;
}

async function done({ call, args = [], options }, target, objects) {
  const given = args.map((value) => made(value, objects));
  if (options !== undefined) given.push(mapped(options, (value) => made(value, objects)));
  if (call === 'new') return new target(...given);
  if (call === 'next') return (await target[Symbol.asyncIterator]().next()).value ?? 'end';
  if (call === 'leave') return target[Symbol.dispose]();
  return typeof target[call] === 'function' ? await target[call](...given) : target[call];
}

function made(value, objects) {
  if (value === null || typeof value !== 'object' || Object.keys(value).length !== 1) return value;
  const [[kind, given]] = Object.entries(value);
  const [name, ...rest] = Array.isArray(given) ? given : [];
  const makers = {
    ref: () => objects.get(given),
    sampler: () => inferlet.Sampler[name](...rest),
    penalized: () => inferlet.Sampler.argmax().penalized(given),
    probe: () => inferlet[name](...rest),
    schema: () => inferlet[name](...rest),
    constraint: () => kept(new ScriptedConstraint(given), objects),
    speculator: () => kept(new ScriptedSpeculator(given), objects),
  };
  return Object.hasOwn(makers, kind) ? makers[kind]() : value;
}

function kept(script, objects) {
  objects.set('script', script);
  return script;
}

class Script {
  told = [];

  constructor(answers) {
    this.answers = [...answers];
  }
}

class ScriptedConstraint extends Script {
  step(accepted) {
    this.told.push([...accepted]);
    return this.answers.shift() ?? [];
  }
}

class ScriptedSpeculator extends Script {
  draft() {
    return this.answers.shift() ?? [[], []];
  }

  accept(tokens) {
    this.told.push(['accept', [...tokens]]);
  }

  rollback(n) {
    this.told.push(['rollback', n]);
  }

  reset() {
    this.told.push(['reset']);
  }
}

/** JSON data; an object of the SDK is null. */
function plain(value) {
  if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString('hex') };
  if (ArrayBuffer.isView(value) || Array.isArray(value)) return Array.from(value, plain);
  if (value instanceof Map) return plain(Object.fromEntries(value));
  if (value === undefined || value === null) return null;
  if (typeof value !== 'object') return typeof value === 'function' ? null : value;
  const isData = Object.getPrototypeOf(value) === Object.prototype && !(Symbol.dispose in value);
  return isData ? mapped(value, plain) : null;
}

function received(value) {
  if (Array.isArray(value)) return value.map(received);
  if (value === null || typeof value !== 'object') return value;
  return 'bytes' in value ? Uint8Array.from(Buffer.from(value.bytes, 'hex')) : mapped(value, received);
}

function mapped(object, change) {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));
}
