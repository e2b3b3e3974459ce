/**
 * A conversation that outlives the program: it is saved under a name, with its pages, and the next run goes on with it.
 *
 *     pie run examples/snapshots/main.ts -- --say "My name is Anna."
 *     pie run examples/snapshots/main.ts -- --say "What is my name?"
 */

import { Context, errors, Model, runtime, Sampler, session } from 'inferlet';

type Input = { say?: string; name?: string; forget?: boolean; max_tokens?: number };

export async function main(input: Input): Promise<string> {
  const { say = 'My name is Anna.', name = 'diary', forget = false, max_tokens: maxTokens = 32 } = input;
  const model = Model.load(runtime.models()[0]);
  using context = (forget ? undefined : keptConversation(model, name)) ?? new Context(model);
  const before = context.seqLen;
  const answer = await context.user(say).generate(Sampler.argmax(), { maxTokens }).collectText();
  context.seal().save(name, { persist: true });
  session.send(`[${before} tokens were kept, ${context.seqLen - before} are new]\n`);
  return answer;
}

/** undefined where there is none, or one of another model. */
function keptConversation(model: Model, name: string): Context | undefined {
  try {
    return Context.open(model, name);
  } catch (error) {
    if (!(error instanceof errors.SnapshotIncompatibleError)) throw error;
    session.send(`[${error.message}; beginning anew]\n`);
    return undefined;
  }
}
