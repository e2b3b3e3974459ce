// Frames that no SDK would write reach nothing but their own process, and end it.

import fs from 'node:fs';
import { runtime } from 'inferlet';

const inLink = (name) => import(new URL(`../link/${name}.mjs`, import.meta.resolve('inferlet')));
const { encode } = await inLink('msgpack');
const { callNow } = await inLink('host');

const LIMIT_BYTES = 65 << 20;

function length(count) {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(count);
  return bytes;
}

function framed(value) {
  const data = Buffer.isBuffer(value) ? value : encode(value);
  return Buffer.concat([length(data.length), data]);
}

const FORGED = {
  'no msgpack': framed(Buffer.from([0xc1])),
  nothing: framed(Buffer.alloc(0)),
  endless: length(LIMIT_BYTES + 1),
  half: Buffer.concat([length(100), Buffer.from('x')]),
  deep: framed(Buffer.alloc(100_000, 0x91)),
  'a map': framed({ call: 'describe_runtime' }),
  'unknown frame': framed(['launch_missiles', 1]),
  order: framed(['launch_spec', 'other@1.0.0', ['/etc/passwd'], 'main', 'input', '{}', {}, '/', true]),
  answer: framed(['answer', 1, null]),
  stop: framed(['stop', 'enough']),
  'unknown call': framed(['request', 1, { call: 'launch_missiles' }]),
  'wrong type': framed(['request', '1', { call: 'describe_runtime' }]),
  'negative number': framed(['request', -1, { call: 'describe_runtime' }]),
  'end with more': Buffer.concat([framed(['ended', 'x', 'text']), framed(['output', 'stdout', 'after the end'])]),
  'bad text': framed(Buffer.from('\x93\xa6output\xa6stdout\xa2\xff\xfe', 'latin1')),
  format: framed(['ended', 'x', 'picture']),
  'error of a stranger': framed(['ended', '', 'none', ['no_such_code', 'NoSuchError', 'x'.repeat(100), '', {}]]),
};

/** Every context of the engine by number: none is this program's. */
function stolen() {
  const found = [];
  for (let context = 0; context < 64; context++)
    for (const [call, fields] of [['fork_context', {}], ['release_pages', { pages: 1 }], ['suspend_context', {}]]) {
      try {
        callNow(call, { context, ...fields });
        found.push(`${call} ${context}`);
      } catch {}
    }
  return found;
}

export async function main({ forged }) {
  if (forged === 'contexts of others') return { tried: 64, worked: stolen() };
  const bytes = FORGED[forged];
  for (let at = 0; at < bytes.length; ) at += fs.writeSync(3, bytes, at);
  if (forged === 'half') process.reallyExit(0);
  return runtime.username() && 'went on';
}
