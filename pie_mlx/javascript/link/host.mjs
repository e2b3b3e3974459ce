/** The engine beside which the program runs. Calls are named as on the wire, with plain fields. */

import { Link } from './link.mjs';

let link;

/**
 * Makes the socket `fd` the engine of all SDK objects of this process, and returns the link.
 * `toError(code, kind, message, hint, details)` makes the error of a refused call.
 */
export function attach(fd, toError) {
  link = new Link(fd, toError);
  return link;
}

function current() {
  if (link === undefined) throw new Error('no engine: this code does not run inside an inferlet; run it with `pie run FILE`');
  return link;
}

/** A promise of the reply. Rejects with the engine's error; aborting `signal` withdraws the call. */
export function call(name, fields = {}, signal = undefined) {
  return current().call({ call: name, ...fields }, signal);
}

/** The reply; blocks until it is there. Throws the engine's error. */
export function callNow(name, fields = {}) {
  return current().callNow({ call: name, ...fields });
}

/** Makes a call without waiting for it; its errors are dropped. It arrives before everything sent later. */
export function post(name, fields = {}) {
  current().post({ call: name, ...fields });
}
