// What belongs to another user can be neither found, read, changed nor awaited.

import { Adapter, Context, mcp, messaging, Model, runtime } from 'inferlet';

const soon = (work) => Promise.race([work, new Promise((resolve) => setTimeout(resolve, 50))]);

export async function main() {
  const model = Model.load(runtime.models()[0]);
  const ways = {
    snapshot: () => Context.open(model, 'theirs'),
    'snapshot, taken': () => Context.take(model, 'theirs'),
    'snapshot, deleted': () => Context.delete(model, 'theirs'),
    adapter: () => Adapter.open(model, 'theirs'),
    'tool server': () => mcp.connect('theirs'),
    message: () => soon(messaging.pull('theirs')),
    broadcast: () => messaging.broadcast('theirs', 'from a stranger'),
    name: () => runtime.username() === 'mallory' ? undefined : true,
  };
  const worked = [];
  for (const [name, way] of Object.entries(ways)) {
    try {
      if ((await way()) !== undefined) worked.push(name);
    } catch {}
  }
  return { tried: Object.keys(ways).length, worked };
}
