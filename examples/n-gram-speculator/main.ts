/**
 * A speculator of one's own: guesses that what followed the last tokens before, here or in the prompt, follows again.
 *
 * The model checks all guesses in one pass and keeps those it would have written itself: the answer is the same, only
 * the number of passes is not.
 *
 *     pie run examples/n-gram-speculator/main.ts -- --drafts 10
 */

import { Context, Model, runtime, Sampler, session, type Speculator } from 'inferlet';

type Input = { question?: string; n?: number; drafts?: number; max_tokens?: number };

/** `draft` is asked for guesses, `accept` and `rollback` hear what became of them. */
class Repetition implements Speculator {
  drafted = 0;
  wrong = 0;
  #context: Context;
  #n: number;
  #most: number;
  #tokens: number[] = [];

  constructor(context: Context, n: number, most: number) {
    this.#context = context;
    this.#n = n;
    this.#most = most;
  }

  /** Begin with the prompt. */
  reset(): void {
    this.#tokens = [...this.#context.buffer()];
  }

  /** Guesses and their positions, which follow those of the context and its buffer. */
  draft(): [number[], number[]] {
    const guesses = this.#continuation();
    const position = this.#context.seqLen + this.#context.buffer().length;
    this.drafted += guesses.length;
    return [guesses, guesses.map((_, place) => position + place)];
  }

  accept(tokens: Uint32Array): void {
    this.#tokens.push(...tokens);
  }

  rollback(n: number): void {
    this.wrong += n;
  }

  /** What followed the last `n` tokens when they stood there most recently. */
  #continuation(): number[] {
    const tail = this.#tokens.slice(-this.#n);
    for (let end = this.#tokens.length - 1; end >= this.#n; end -= 1) {
      const isSame = tail.every((token, place) => this.#tokens[end - this.#n + place] === token);
      if (isSame) return this.#tokens.slice(end, end + this.#most);
    }
    return [];
  }
}

const LIST = 'Repeat the list: dog, cat, horse, rabbit, fox, wolf, bear';

export async function main(input: Input): Promise<string> {
  const { question = LIST, n = 2, drafts = 6, max_tokens: maxTokens = 48 } = input;
  const model = Model.load(runtime.models()[0]);
  using context = new Context(model);
  const speculator = new Repetition(context.user(question), n, drafts);
  const tokens: number[] = [];
  let passes = 0;
  for await (const step of context.generate(Sampler.argmax(), { maxTokens, speculator })) {
    tokens.push(...(await step.execute()).tokens);
    passes += 1;
  }
  const right = speculator.drafted - speculator.wrong;
  const guesses = `${right} of ${speculator.drafted} guesses were right`;
  session.send(`${tokens.length} tokens in ${passes} passes, ${guesses}\n`);
  return model.tokenizer().decode(tokens);
}
