/** Answers the HTTP request of this process with the program's handler. */

import { call } from '../inferlet/_calls/host.mjs';
import { InvalidTypeError } from '../inferlet/errors.mjs';

const HINT = "return a Response: new Response('text', { status: 200 }), or Response.json(value)";
const BODILESS = ['GET', 'HEAD']; // a Request of these has no body

/** Passes the request to `handle`, and its Response to the client. Throws InvalidTypeError for another answer. */
export async function answerRequest(handle, input) {
  const response = await handle(asRequest(await call('read_http_request', {})), input);
  if (!(response instanceof Response))
    throw new InvalidTypeError(`handle: answered ${response?.constructor?.name ?? response}`, { hint: HINT });
  const headers = [...response.headers].filter(([name]) => name !== 'content-length');
  const begun = call('begin_http_answer', { status: response.status, headers });
  await (response.body === null ? begun : sendPieces(begun, response.body));
  await call('write_http_body', { data: new Uint8Array(), last: true });
}

function asRequest({ method, path, query, headers, body }) {
  const host = headers.find(([name]) => name === 'host')?.[1] ?? 'localhost';
  const url = `http://${host}${path}${query && `?${query}`}`;
  return new Request(url, { method, headers, body: BODILESS.includes(method) ? undefined : body });
}

/** Sends each piece while the program produces the next. */
async function sendPieces(begun, body) {
  let sending = begun;
  sending.catch(() => {}); // it is awaited after the first piece
  try {
    for await (const piece of body) {
      await sending;
      sending = call('write_http_body', { data: asBytes(piece) });
      sending.catch(() => {}); // and this after the next
    }
  } catch (error) {
    await sending.catch(() => {}); // what was produced before a failure is sent
    throw error;
  }
  await sending;
}

function asBytes(piece) {
  if (piece instanceof Uint8Array) return piece;
  if (typeof piece === 'string') return Buffer.from(piece);
  throw new InvalidTypeError(`handle: a piece of the body is of type ${typeof piece}`, {
    hint: 'stream text or Uint8Array',
  });
}
