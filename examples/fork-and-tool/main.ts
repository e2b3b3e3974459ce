/**
 * A prefix is computed once; two forks share its pages, write only what differs, and pay only for that.
 *
 * One fork streams an answer, the other calls a tool and reads what it gave.
 *
 *     pie run examples/fork-and-tool/main.ts -- --city Lima
 */

import { chat, Context, Model, runtime, Sampler, session, tools } from 'inferlet';

type Input = { question?: string; city?: string; max_tokens?: number };

const WEATHER = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Get the weather of a city.',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};
const SKIES = ['sunny', 'cloudy', 'rainy', 'windy'];

export async function main(input: Input): Promise<void> {
  const { question = 'What can you do?', city = 'Oslo', max_tokens: maxTokens = 64 } = input;
  using common = new Context(Model.load(runtime.models()[0]));
  await common.system('You are a helpful assistant.').equipTools([WEATHER]).flush();

  using first = common.fork();
  session.send(`> ${question}\n`);
  await answer(first.user(question), maxTokens);

  using second = common.fork();
  session.send(`\n> What is the weather in ${city}?\n`);
  const called = await answer(second.user(`What is the weather in ${city}?`), maxTokens);
  for (const { name, args } of called) {
    const result = weather(name, args);
    session.send(`[${name} ${args} -> ${JSON.stringify(result)}]\n`);
    second.seal().answerTool(name, result);
  }
  if (called.length > 0) await answer(second, maxTokens);
  else session.send('[the model called no tool]\n');
}

/** What the tool answers: made up, but always the same for the same city. */
function weather(name: string, args: string): object {
  if (name !== 'get_weather') return { error: 'unknown name' };
  const seed = Buffer.from(String(JSON.parse(args).city ?? '')).reduce((sum, byte) => sum + byte, 0);
  return { temperature_c: seed % 30, sky: SKIES[seed % SKIES.length] };
}

/** Stream the model's turn to the client; the tool calls in it are given back. */
async function answer(context: Context, maxTokens: number): Promise<{ name: string; args: string }[]> {
  const [text, calls] = [new chat.Decoder(context.model), new tools.Decoder(context.model)];
  const called: { name: string; args: string }[] = [];
  for await (const step of context.generate(Sampler.argmax(), { maxTokens })) {
    const { tokens } = await step.execute();
    const [heard, call] = [text.feed(tokens), calls.feed(tokens)];
    if (heard.type === 'delta') session.send(heard.text);
    if (call.type === 'call') called.push(call);
  }
  session.send('\n');
  return called;
}
