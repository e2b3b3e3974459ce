/**
 * Beam search: of all continuations of the kept beginnings, the likeliest are kept; a beginning that parts is forked.
 *
 * Beams share the pages of what they have in common, and all of them step together in one batch.
 *
 *     pie run examples/beam-search/main.ts -- --width 4
 */

import { chat, Context, Distribution, Model, runtime, session } from 'inferlet';

type Input = { question?: string; width?: number; max_tokens?: number };

/** A beginning: `context` holds all of it but `last`; `score` is the log-probability of `tokens`. */
type Beam = { context: Context; last: number; tokens: number[]; score: number };

export async function main(input: Input): Promise<string> {
  const { question = 'Write a haiku about the sea.', width = 3, max_tokens: maxTokens = 40 } = input;
  const model = Model.load(runtime.models()[0]);
  const stops = new Set(chat.stopTokens(model));
  const ended: Beam[] = [];
  let beams = [await opening(model, question)];
  for (let step = 0; step < maxTokens; step += 1) {
    const grown = await Promise.all(beams.map((beam) => extensions(beam, width)));
    const ranked = grown
      .flat()
      .sort((left, right) => right.score - left.score)
      .slice(0, width);
    ended.push(...ranked.filter((beam) => stops.has(beam.last)));
    const kept = ranked.filter((beam) => !stops.has(beam.last));
    if (ended.length >= width || kept.length === 0) break;
    beams = part(beams, kept);
  }
  const mean = ({ score, tokens }: Beam) => score / tokens.length;
  const best = (ended.length > 0 ? ended : beams).toSorted((left, right) => mean(right) - mean(left));
  const decode = (tokens: number[]) => model.tokenizer().decode(tokens);
  for (const { score, tokens } of best) session.send(`${score.toFixed(2).padStart(7)}  '${decode(tokens)}'\n`);
  return decode(best[0].tokens.filter((token) => !stops.has(token)));
}

async function opening(model: Model, question: string): Promise<Beam> {
  const cue = [...chat.cue(model)];
  const context = new Context(model).user(question).append(cue.slice(0, -1));
  await context.flush();
  return { context, last: cue[cue.length - 1], tokens: [], score: 0 };
}

/** The likeliest continuations of a beam, still on its own context. */
async function extensions({ context, last, tokens, score }: Beam, width: number): Promise<Beam[]> {
  const forward = context.forward().input([last]);
  const probe = forward.probe(0, Distribution(1, width));
  const [ids, shares] = (await forward.execute()).distribution(probe) ?? [[], []];
  return Array.from(ids, (token, place) => {
    return { context, last: token, tokens: [...tokens, token], score: score + Math.log(shares[place]) };
  }).filter((beam) => Number.isFinite(beam.score));
}

/** Give each kept beam a context of its own: one goes on with its parent's, the others with forks of it. */
function part(parents: Beam[], kept: Beam[]): Beam[] {
  const free = new Set(parents.map((parent) => parent.context));
  const beams = kept.map((beam) => {
    return free.delete(beam.context) ? beam : { ...beam, context: beam.context.fork() };
  });
  for (const context of free) context.release();
  return beams;
}
