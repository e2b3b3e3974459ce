/**
 * Raw logits: one pass over a question and a given answer shows, at each position, what else the model considered.
 *
 * The numbers are the model's own, before temperature and masks; softmax and entropy are computed here, by hand.
 *
 *     pie run examples/raw-logits/main.ts -- --answer "47 + 38 = 75"
 */

import { chat, Context, Logits, Model, runtime, session, type Tokenizer } from 'inferlet';

type Input = { question?: string; answer?: string; top?: number };

export async function main(input: Input): Promise<number> {
  const { question = 'What is 47 + 38?', answer: text = '47 + 38 = 85', top = 3 } = input;
  const model = Model.load(runtime.models()[0]);
  const [cue, answer] = [chat.cue(model), model.tokenizer().encode(text)];
  using context = new Context(model);
  const forward = context
    .user(question)
    .forward()
    .input([...cue, ...answer]);
  const probes = Array.from(answer, (_, place) => forward.probe(cue.length - 1 + place, Logits()));
  const output = await forward.execute();
  const rows = probes.map((probe) => softmax(new Float32Array(output.logits(probe)!.buffer)));
  for (const [place, token] of answer.entries()) session.send(line(model.tokenizer(), token, rows[place], top));
  return rows.reduce((sum, row, place) => sum + Math.log(row[answer[place]]), 0);
}

/** Probabilities; the largest logit is taken off first, so that nothing overflows. */
function softmax(logits: Float32Array): Float64Array {
  const largest = logits.reduce((most, value) => Math.max(most, value));
  const weights = Float64Array.from(logits, (value) => Math.exp(value - largest));
  const total = weights.reduce((sum, weight) => sum + weight);
  return weights.map((weight) => weight / total);
}

/** In nats. */
function entropy(row: Float64Array): number {
  return row.reduce((sum, share) => (share > 0 ? sum - share * Math.log(share) : sum), 0);
}

/** The given token and its share, the entropy, and the likeliest tokens with theirs. */
function line(tokenizer: Tokenizer, token: number, row: Float64Array, top: number): string {
  const shown = (id: number) => `'${tokenizer.decode([id])}'`;
  const likeliest = [...row.keys()].sort((left, right) => row[right] - row[left]).slice(0, top);
  const others = likeliest.map((id) => `${shown(id)} ${row[id].toFixed(3)}`).join('  ');
  return `${shown(token).padEnd(8)} ${row[token].toFixed(3)}  entropy ${entropy(row).toFixed(3)}  | ${others}\n`;
}
