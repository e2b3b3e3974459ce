/**
 * A conversation that streams. Every turn adds to the same pages, so nothing that was said is computed again.
 *
 * It answers the given turns, then every line that is typed, until Ctrl-D.
 *
 *     pie run examples/chat/main.ts --manifest examples/chat/Pie.toml -- --turns "My name is Anna.,What is my name?"
 */

import { chat, Context, errors, Model, runtime, Sampler, session } from 'inferlet';

type Input = { turns?: string[]; max_tokens?: number };

export async function main({ turns: given = ['My name is Anna.'], max_tokens: maxTokens = 64 }: Input): Promise<void> {
  using context = new Context(Model.load(runtime.models()[0]));
  for await (const text of turns(given)) {
    session.send(`> ${text}\n`);
    await answer(context.user(text), maxTokens);
    context.seal();
    session.send(`\n[${context.seqLen} tokens are kept]\n`);
  }
}

/** What the user says: first what was given, then what is sent. */
async function* turns(given: string[]): AsyncGenerator<string> {
  yield* given;
  try {
    for (;;) yield await session.receive();
  } catch (error) {
    if (!(error instanceof errors.SessionClosedError)) throw error;
  }
}

/** Stream the model's turn. */
async function answer(context: Context, maxTokens: number): Promise<void> {
  const decoder = new chat.Decoder(context.model);
  for await (const step of context.generate(Sampler.topP(0.3, 0.9), { maxTokens })) {
    const output = await step.execute();
    const event = decoder.feed(output.tokens);
    if (event.type === 'delta') session.send(event.text);
  }
}
