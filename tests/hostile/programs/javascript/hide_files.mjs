// Files can be kept where nothing that counts them finds them.

import fs from 'node:fs';

const PIECE = Buffer.alloc(1 << 20);

function put(name) {
  const file = fs.openSync(name, 'w');
  fs.writeSync(file, PIECE);
  return file;
}

const WAYS = {
  deleted_and_open() {
    for (let number = 0; number < 4; number++) {
      put('f');
      fs.unlinkSync('f');
    }
  },
  as_many_empty_ones() {
    for (let number = 0; number < 8000; number++) fs.writeFileSync(`f${number}`, '');
  },
};

export async function main({ way }) {
  WAYS[way]();
  await new Promise((resolve) => setTimeout(resolve, 30_000));
  return 'kept';
}
