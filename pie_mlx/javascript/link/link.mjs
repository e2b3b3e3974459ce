/**
 * The worker's end of the link to the engine, on a socket that this process inherited.
 *
 * Whoever waits reads: a blocking call reads the socket itself, for promises the event loop does. A blocked sender reads
 * too, because the engine stops reading from a worker that does not read its answers.
 */

import fs from 'node:fs';
import net from 'node:net';
import process from 'node:process';
import { FrameCutter, pack } from './frames.mjs';

const NO_ANSWER = 0;
const OUTPUT_LIMIT_CHARACTERS = 64 << 10; // a character has at most four bytes, and a frame of output 256 KiB
const RETRY_MILLISECONDS = 0.5;
export const LOST_ENGINE_STATUS = 69;

const never = new Int32Array(new SharedArrayBuffer(4));

export class Link {
  /** Called with the launch of the program. */
  onLaunch = () => {};
  /** Called with the reason when the program is cancelled. */
  onStop = () => {};

  #fd;
  #socket;
  #toError;
  #frames = new FrameCutter();
  #number = NO_ANSWER;
  #waiting = new Map();
  #promised = 0;
  #closed;
  #unsent = [];
  #sending = false;

  /** `toError(code, kind, message, hint, details)` makes the error of a refused call. */
  constructor(fd, toError) {
    this.#fd = fd;
    this.#toError = toError;
    this.#socket = new net.Socket({ fd, readable: true, writable: true });
    this.#socket.on('data', (bytes) => {
      this.#frames.feed(bytes);
      this.#dispatchAll();
    });
    for (const end of ['end', 'error']) this.#socket.on(end, lost);
  }

  /** Makes a call and blocks until it is answered. Throws the engine's error. */
  callNow(message) {
    const waiter = { done: false };
    this.#ask(message, waiter);
    const handle = this.#socket._handle; // fs cannot wait on a socket that does not block
    handle.setBlocking(true);
    try {
      while (!waiter.done) {
        this.#receive();
        this.#dispatchAll();
      }
    } finally {
      handle.setBlocking(false);
    }
    if (waiter.error !== undefined) throw waiter.error;
    return waiter.reply;
  }

  /** Makes a call; the promise rejects with the engine's error. Aborting `signal` withdraws the call. */
  call(message, signal) {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const number = this.#ask(message, { resolve, reject });
      if (this.#promised++ === 0) this.#socket.ref();
      signal?.addEventListener('abort', () => this.#withdraw(number, signal.reason), { once: true });
    });
  }

  /** Makes a call without an answer, ordered before everything sent later. */
  post(message) {
    this.send(['request', NO_ANSWER, message]);
  }

  /** Sends program output to `stream`, 'stdout' or 'stderr', in order with its calls. */
  write(stream, text) {
    for (let at = 0; at < text.length; at += OUTPUT_LIMIT_CHARACTERS)
      this.send(['output', stream, text.slice(at, at + OUTPUT_LIMIT_CHARACTERS)]);
  }

  /** Lets the process end once nothing but the link is left: only calls that wait keep it. */
  rest() {
    if (this.#promised === 0) this.#socket.unref();
  }

  /** Fails every call that waits, and all that follow. */
  close(error) {
    this.#closed = error;
    for (const number of [...this.#waiting.keys()]) this.#settle(number, undefined, error);
  }

  /** Sends a frame; blocks while the engine does not read. */
  send(frame) {
    this.#unsent.push(pack(frame));
    if (this.#sending) return; // answers a ping while a frame is half sent: that one goes first
    this.#sending = true;
    try {
      while (this.#unsent.length > 0) this.#sendWhole(this.#unsent.shift());
    } finally {
      this.#sending = false;
    }
  }

  #sendWhole(bytes) {
    for (let at = 0; at < bytes.length; ) {
      try {
        at += fs.writeSync(this.#fd, bytes, at, bytes.length - at);
      } catch (error) {
        if (error.code !== 'EAGAIN') lost();
        this.#receiveSome();
        Atomics.wait(never, 0, 0, RETRY_MILLISECONDS);
      }
    }
  }

  #ask(message, waiter) {
    if (this.#closed !== undefined) throw this.#closed;
    const number = ++this.#number;
    this.#waiting.set(number, waiter);
    try {
      this.send(['request', number, message]);
    } catch (error) {
      this.#waiting.delete(number);
      throw error;
    }
    return number;
  }

  #withdraw(number, reason) {
    if (!this.#waiting.has(number)) return;
    this.send(['cancel_call', number]);
    this.#settle(number, undefined, reason);
  }

  #receive() {
    if (this.#frames.receive((buffer, at, count) => fs.readSync(this.#fd, buffer, at, count, null)) === 0) lost();
  }

  #receiveSome() {
    try {
      this.#receive();
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
      return;
    }
    this.#dispatchAll();
  }

  #dispatchAll() {
    for (let frame = this.#frames.next(); frame !== undefined; frame = this.#frames.next()) this.#dispatch(frame);
  }

  #dispatch([kind, ...fields]) {
    switch (kind) {
      case 'answer':
        return this.#settle(fields[0], fields[1], undefined);
      case 'error_answer':
        return this.#settle(fields[0], undefined, this.#toError(...fields[1]));
      case 'ping':
        return this.send(['pong']);
      case 'stop':
        return this.onStop(fields[0]);
      case 'node_launch':
        return this.onLaunch(fields);
      default:
        return lost();
    }
  }

  #settle(number, reply, error) {
    const waiter = this.#waiting.get(number);
    if (waiter === undefined) return; // withdrawn
    this.#waiting.delete(number);
    if (waiter.resolve === undefined) Object.assign(waiter, { reply, error, done: true });
    else {
      if (--this.#promised === 0) this.#socket.unref();
      if (error === undefined) waiter.resolve(reply);
      else waiter.reject(error);
    }
  }
}

function lost() {
  process.reallyExit(LOST_ENGINE_STATUS);
}
