/**
 * The smallest program with a conversation: one question, one streamed answer.
 *
 * A decoder turns tokens into text, and leaves out what is not meant to be read.
 *
 *     pie run examples/hello/main.ts -- --prompt "What can you do?"
 */

import { chat, Context, Model, runtime, Sampler, session } from 'inferlet';

type Input = { prompt?: string; max_tokens?: number };

export async function main({ prompt = 'Who are you?', max_tokens: maxTokens = 64 }: Input): Promise<void> {
  const model = Model.load(runtime.models()[0]);
  const decoder = new chat.Decoder(model);
  using context = new Context(model);
  context.user(prompt);
  for await (const step of context.generate(Sampler.argmax(), { maxTokens })) {
    const output = await step.execute();
    const event = decoder.feed(output.tokens);
    if (event.type === 'delta') session.send(event.text);
  }
  session.send('\n');
}
