// However a program ends, it is told why, and nothing else ends with it.

import fs from 'node:fs';

function raise(error) {
  throw error;
}

function deeper() {
  return deeper() + 1;
}

function withoutFiles() {
  for (let fd = 0; fd < 256; fd++) {
    try {
      fs.closeSync(fd);
    } catch {}
  }
}

const unreadable = new Proxy({}, { get: () => raise(new Error('no text')) });

const WAYS = {
  abort: () => process.abort(),
  exit: () => process.reallyExit(3),
  'process.exit': () => process.exit(4),
  kill: () => process.kill(process.pid, 'SIGKILL'),
  stack: deeper,
  nothing: () => raise(undefined),
  text: () => raise('\u001b[2J\ud800'),
  'odd error': () => raise(unreadable),
  'error without text': () => raise(Object.create(Error.prototype, { message: { get: () => raise(new Error()) } })),
  rejection: () => Promise.reject(null),
  'later error': () => setTimeout(() => raise(new Error('later'))),
  'error in an exit': () => process.on('exit', () => raise(new Error('at the end'))) && process.exit(5),
  'no descriptors': withoutFiles,
  'no prototype': () => raise(Object.create(null)),
  'own trace': () => {
    Error.prepareStackTrace = () => raise(new Error('no trace'));
    raise(new Error('traced'));
  },
};

export async function main({ way }) {
  WAYS[way]();
  await new Promise((resolve) => setTimeout(resolve, 50));
  return 'survived';
}
