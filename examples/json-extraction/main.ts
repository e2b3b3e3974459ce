/**
 * JSON by schema: the schema becomes a grammar, and the answer an object that fits it.
 *
 * Whatever the text is, tokens that would break the schema are masked in the engine. Whether the result is true is
 * another question, as the last text shows.
 *
 *     pie run examples/json-extraction/main.ts --manifest examples/json-extraction/Pie.toml -- --texts "Nina is 27."
 */

import { Context, Model, runtime, Sampler, session } from 'inferlet';

type Input = { texts?: string[] };
type Person = { name: string; age: number; city: string };

const SCHEMA = {
  type: 'object',
  properties: {
    name: { type: 'string', maxLength: 24 },
    age: { type: 'integer', minimum: 0, maximum: 120 },
    city: { type: 'string', maxLength: 24 },
  },
  required: ['name', 'age', 'city'],
};
const TEXTS = ['Tom is 45 years old and lives in Rome.', 'Nina lives in Lima. She is 27 years old.', 'Hello!'];

export async function main({ texts = TEXTS }: Input): Promise<Person[]> {
  const model = Model.load(runtime.models()[0]);
  const people = await Promise.all(texts.map((text) => read(model, text)));
  for (const [place, person] of people.entries()) session.send(`${texts[place]}\n    ${JSON.stringify(person)}\n`);
  return people;
}

/** The person a text is about. */
async function read(model: Model, text: string): Promise<Person> {
  using context = new Context(model);
  context.user(`Extract name, age and city as JSON: ${text}`);
  return await context.generate(Sampler.argmax()).collectJson<Person>({ schema: SCHEMA });
}
