/**
 * Grammars: what may be written is fixed token by token, by a regular expression or a grammar in Lark's notation.
 *
 * The engine masks what would not fit. Constraints combine: with two of them, a token must be allowed by both.
 *
 *     pie run examples/grammars/main.ts -- --question "What is 58 + 67?"
 */

import { Context, ebnf, Model, regex, runtime, Sampler, session, type Schema } from 'inferlet';

type Input = { question?: string; max_tokens?: number };

const EQUATION = String.raw`
start: sum " = " NUMBER
sum: NUMBER (" + " NUMBER)+
NUMBER: /[1-9][0-9]{0,3}/
`;
const CONSTRAINTS: Record<string, Schema[]> = {
  free: [],
  choice: [regex('yes|no|perhaps')],
  regex: [regex(/[A-Z][a-z]{2,8} [0-9]{1,3}\./)],
  lark: [ebnf(EQUATION)],
  'lark and regex': [ebnf(EQUATION), regex(/[0-9 +=]{1,8}/)],
};

export async function main({ question = 'What is 47 + 38?', max_tokens: maxTokens = 48 }: Input) {
  const model = Model.load(runtime.models()[0]);
  const answers = await Promise.all(
    Object.entries(CONSTRAINTS).map(async ([name, constrain]) => {
      using context = new Context(model);
      const generator = context.user(question).generate(Sampler.argmax(), { maxTokens, constrain });
      return { name, text: await generator.collectText(), reason: generator.finishReason };
    }),
  );
  for (const { name, text, reason } of answers) session.send(`${name.padEnd(15)} '${text}' ended by ${reason}\n`);
  return Object.fromEntries(answers.map(({ name, text }) => [name, text]));
}
