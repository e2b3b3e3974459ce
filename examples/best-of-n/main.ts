/**
 * Best of n: the prompt is computed once, n forks answer it side by side in one batch, and the likeliest answer wins.
 *
 * How likely an answer is, its sampler tells: it scores each token as it draws it.
 *
 *     pie run examples/best-of-n/main.ts -- --n 8
 */

import { Context, Model, runtime, Sampler, session } from 'inferlet';

type Input = { question?: string; n?: number; temperature?: number; max_tokens?: number };

export async function main(input: Input): Promise<string> {
  const { question = 'Tell me a story about a dog.', n = 4, temperature = 1, max_tokens: maxTokens = 64 } = input;
  const sampler = Sampler.multinomial(temperature).scored();
  using prompt = new Context(Model.load(runtime.models()[0]));
  await prompt.user(question).flush();
  const candidates = await Promise.all(Array.from({ length: n }, () => candidate(prompt, sampler, maxTokens)));
  candidates.sort((left, right) => right.score - left.score);
  for (const { score, text } of candidates) session.send(`${score.toFixed(2).padStart(6)}  ${text}\n`);
  return candidates[0].text;
}

/** One answer: its mean log-probability and its text. */
async function candidate(
  prompt: Context,
  sampler: Sampler,
  maxTokens: number,
): Promise<{ score: number; text: string }> {
  using context = prompt.fork();
  const generator = context.generate(sampler, { maxTokens });
  const text = prompt.model.tokenizer().decode(await generator.collectTokens());
  return { score: generator.score / Math.max(generator.tokensGenerated, 1), text };
}
