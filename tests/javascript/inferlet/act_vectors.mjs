/** Acts the vectors of a file on the JavaScript SDK, and prints what it did: `node act_vectors.mjs KIND FILE`. */

import fs from 'node:fs';
import { replaceHost } from '../../../pie_mlx/javascript/inferlet/_calls/host.mjs';
import { PieError } from '../../../pie_mlx/javascript/inferlet/errors.mjs';
import * as inferlet from '../../../pie_mlx/javascript/inferlet/index.mjs';
import { actProgram } from './actor.mjs';

const [, , kind, file] = process.argv;
const cases = JSON.parse(fs.readFileSync(file, 'utf8'));
console.log(JSON.stringify(await { masks, decoding, programs }[kind]()));

function masks() {
  return cases.map(({ call, arguments: given }) => settled(() => ({ result: inferlet.brle[call](...given) })));
}

function decoding() {
  const [{ models }, ...rest] = cases;
  return rest.map((one) => events({ ...one, info: models[one.model] }));
}

function events({ info, vocabulary, decoder, schemas, feeds, parsed }) {
  const replies = {
    load_model: () => info,
    read_vocabulary: () => ({
      token_ids: Object.keys(vocabulary).map(Number),
      tokens: Object.values(vocabulary).map((bytes) => Uint8Array.from(Buffer.from(bytes, 'hex'))),
    }),
    parse_tool_call: ({ text }) => parsed[text],
  };
  replaceHost({ callNow: (name, fields) => replies[name](fields) });
  const made = new inferlet[decoder].Decoder(inferlet.Model.load('m'), schemas);
  const found = feeds.map((feed) => settled(() => made.feed(feed)));
  found.push(settled(() => made.finish()));
  while (found.at(-1).type !== 'idle') found.push(made.feed([]));
  return found;
}

async function programs() {
  const done = [];
  for (const one of cases) done.push(await actProgram(one));
  return done;
}

function settled(work) {
  try {
    return work();
  } catch (error) {
    if (error instanceof PieError) return { error: error.code };
    throw error;
  }
}
