/**
 * Fan-out: a program launches one of its own for each text, and waits for all of them.
 *
 * Children run in processes of their own, on the wallet of their parent; one that fails takes nobody with it. They may
 * be written in another language, as here.
 *
 *     pie run examples/fan-out/main.ts
 */

import { errors, runtime, session } from 'inferlet';

type Input = { texts?: string[] };
type Person = { name: string; age: number };

const TEXTS = [
  'Anna lives in Rome. Anna is 31 years old.',
  'Tom lives in Oslo. Tom is 45 years old.',
  'Nina is 27 years old and comes from Lima.',
];

export async function main({ texts = TEXTS }: Input): Promise<string> {
  const children = texts.map((text) => runtime.launch('reader.py', { text }));
  const results = await Promise.allSettled(children.map((child) => child.result() as Promise<Person>));
  const people: Person[] = [];
  for (const [place, result] of results.entries()) {
    const id = children[place].pid.slice(0, 8);
    if (result.status === 'fulfilled') {
      session.send(`${id} found ${JSON.stringify(result.value)}\n`);
      people.push(result.value);
    } else if (result.reason instanceof errors.ChildFailedError)
      session.send(`${id} failed: ${result.reason.message}\n`);
    else throw result.reason;
  }
  people.sort((left, right) => left.age - right.age);
  const [youngest, oldest] = [people.at(0), people.at(-1)];
  return youngest && oldest ? `from ${youngest.name} (${youngest.age}) to ${oldest.name} (${oldest.age})` : 'nobody';
}
