/** Talking to the client that launched the program. */

import { checkedText, kindOf } from './_calls/checks.mjs';
import { call, callNow } from './_calls/host.mjs';
import { jsonText } from './_calls/payload.mjs';
import { InvalidTypeError } from './errors.mjs';

/** A wait that `signal` ends. @typedef {{ signal?: AbortSignal }} WaitOptions */

/**
 * Send a message: a string unchanged, anything else as JSON. Throws InvalidTypeError for what JSON cannot hold,
 * InvalidArgumentError for text that is not Unicode.
 * @param {unknown} message
 */
export function send(message) {
  if (typeof message === 'string') callNow('send_message', { text: checkedText(message, 'session.send') });
  else callNow('send_message', { text: jsonText('session.send', message), format: 'json' });
}

/**
 * Send a file, optionally with a name for it. Throws InvalidTypeError for anything but bytes.
 * @param {Uint8Array | ArrayBuffer} data
 * @param {string} [name]
 */
export function sendFile(data, name = '') {
  const bytes = data instanceof ArrayBuffer ? new Uint8Array(data) : data;
  if (!(bytes instanceof Uint8Array)) {
    const hint = 'pass a Uint8Array; new TextEncoder().encode(text) gives one';
    throw new InvalidTypeError(`sendFile: got ${kindOf(data)}`, { hint });
  }
  callNow('send_file', { data: bytes, name: checkedText(name, 'file name') });
}

/**
 * The next message or signal of the client, in order. Aborting the wait loses none. Throws SessionClosedError when
 * there is no client.
 * @param {WaitOptions} [options]
 * @returns {Promise<string>}
 */
export async function receive({ signal } = {}) {
  for (;;) {
    await call('await_incoming', { what: 'message' }, signal);
    const text = callNow('receive_message', {});
    if (text !== null) return text;
  }
}

/**
 * The next file of the client, in order. Aborting the wait loses none. Throws SessionClosedError when there is no
 * client.
 * @param {WaitOptions} [options]
 * @returns {Promise<Uint8Array>}
 */
export async function receiveFile({ signal } = {}) {
  for (;;) {
    await call('await_incoming', { what: 'file' }, signal);
    const data = callNow('receive_file', {});
    if (data !== null) return data;
  }
}
