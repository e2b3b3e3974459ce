/** Output of the program goes over the link, in order with its calls. */

import process from 'node:process';
import { Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

/** Replaces the standard streams, to which `console` writes. */
export function useStreams(link) {
  for (const [name, fd] of [['stdout', 1], ['stderr', 2]]) {
    let stream;
    const open = () => (stream ??= linkStream(link, name, fd));
    Object.defineProperty(process, name, { configurable: true, enumerable: true, get: open });
  }
}

function linkStream(link, name, fd) {
  const decoder = new StringDecoder('utf8');
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, encoding, done) {
      const isText = typeof chunk === 'string' && /^utf-?8$/.test(encoding);
      const text = isText ? chunk : decoder.write(typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk);
      link.write(name, text.toWellFormed());
      done();
    },
  });
  return Object.assign(stream, { fd, _type: 'pipe', isTTY: false });
}
