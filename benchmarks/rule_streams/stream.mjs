/** As `stream.py` writes under min-p by hand: from a probe of all logits, in JavaScript. */

import { Context, Logits, Model, runtime, Sampler, session } from 'inferlet';

const P = 0.1;

/** @param {{ number: number }} input */
export async function main({ number }) {
  const model = Model.load(runtime.models()[0]);
  for (;;) {
    const text = JSON.parse(await session.receive());
    if (text === null) return;
    const context = new Context(model);
    context.append([2 + number, 3]);
    const options = { maxTokens: text.tokens + 1, stop: [], autoFlush: false };
    const generator = context.generate(Sampler.argmax(), options);
    let count = 0;
    for await (const step of generator) {
      const probe = step.clearSampler().probe(-1, Logits());
      const { buffer, byteOffset, byteLength } = (await step.execute()).logits(probe);
      generator.accept([drawn(new Float32Array(buffer.slice(byteOffset, byteOffset + byteLength)))]);
      if (count === 0) {
        session.send('begun');
        await session.receive();
      }
      count += 1;
    }
    context.release();
    session.send('ended');
  }
}

/** A token of a row under min-p. @param {Float32Array} row */
function drawn(row) {
  let largest = -Infinity;
  for (const logit of row) largest = Math.max(largest, logit);
  const least = largest + Math.log(P);
  let total = 0;
  for (const logit of row) if (logit >= least) total += Math.exp(logit - largest);
  let target = Math.random() * total;
  let last = 0;
  for (let token = 0; token < row.length; token += 1) {
    if (row[token] < least) continue;
    last = token;
    target -= Math.exp(row[token] - largest);
    if (target < 0) break;
  }
  return last;
}
