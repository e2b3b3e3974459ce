// A program that will not end is ended.

import { session } from 'inferlet';
import os from 'node:os';

export async function main() {
  for (const name of Object.keys(os.constants.signals)) {
    try {
      process.on(name, () => {});
    } catch {}
  }
  process.exit = process.reallyExit = () => {};
  session.send(String(process.pid));
  for (;;) {
    try {
      await new Promise((resolve) => setTimeout(resolve, 1000));
    } catch {}
  }
}
