/** The engine and the user this program runs for, and the programs it launches. */

import { checkedText } from './_calls/checks.mjs';
import { call, callNow, post, whenCollected } from './_calls/host.mjs';
import { jsonText } from './_calls/payload.mjs';
import { ChildFailedError, ProcessCancelledError } from './errors.mjs';

/** @import { ChildOutcome } from './_calls/types.mjs' */

/** Names of the models that `Model.load` takes, the default one first. */
export function models() {
  return callNow('describe_runtime', {}).models;
}

/** Names of those of them that are in memory now; the others are loaded when they are wanted. */
export function loadedModels() {
  return callNow('describe_runtime', {}).loaded;
}

/**
 * Those of them that are being loaded now, or that wait for memory: by each name and alias of theirs the part of their
 * weights that is in memory, from 0 to 1.
 * @returns {Record<string, number>}
 */
export function loadingModels() {
  return /** @type {Record<string, number>} */ (callNow('describe_runtime', {}).loading);
}

/** What is known of every model of the engine, its default one first, without loading any. */
export function modelStates() {
  return callNow('describe_models', {});
}

/** Version of the engine. */
export function version() {
  return callNow('describe_runtime', {}).version;
}

/** Identifier of this run of the engine. */
export function instanceId() {
  return callNow('describe_runtime', {}).instance_id;
}

/** Identifier of this run of the program, the same that `pie ps` shows: no other run has it. */
export function processId() {
  return callNow('describe_runtime', {}).process_id;
}

/** The user who launched the program. */
export function username() {
  return callNow('describe_runtime', {}).username;
}

/** A launched program, which keeps running when this handle is dropped. */
export class Child {
  /** Its process id, the same that `pie ps` and clients show. @readonly */
  pid;
  /** @type {Promise<ChildOutcome> | undefined} */
  #outcome;

  /** @param {string} pid @internal */
  constructor(pid) {
    this.pid = pid;
    whenCollected(this, () => post('forget_child', { child: pid }));
  }

  /**
   * Its return value: text as it is, otherwise the value of its JSON. May be awaited more than once.
   *
   * Throws ChildFailedError with the `childType`, `childCode` and `childMessage` of the error that ended it, and
   * ProcessCancelledError when it was cancelled.
   * @returns {Promise<any>}
   */
  async result() {
    this.#outcome ??= call('await_child', { child: this.pid });
    return returned(this.pid, await this.#outcome);
  }

  /** Ask it to end; after a grace period the engine abandons it and its children. No error when it has ended. */
  cancel() {
    callNow('cancel_child', { child: this.pid });
  }
}

/**
 * Start a program beside this one, for the same user and on the same wallet.
 *
 * `program` is the path of a program in this program's directory, or the name of an installed one. `input` is an
 * object, a string with a JSON object, or another string, which becomes `{ "input": ... }`. Throws LaunchError for an
 * unknown program, an input that does not fit, or too many programs or generations of them.
 * @param {string} program
 * @param {unknown} [input]
 */
export function launch(program, input) {
  return new Child(callNow('launch_child', { program: checkedText(program, 'program'), input: inputText(input) }));
}

/** The same as `launch`. */
export const spawn = launch;

/** @param {unknown} input */
function inputText(input) {
  if (typeof input !== 'string') return jsonText('input', input ?? {});
  return holdsObject(input) ? checkedText(input, 'input') : jsonText('input', { input: checkedText(input, 'input') });
}

/** @param {string} text */
function holdsObject(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** @param {string} pid @param {ChildOutcome} outcome */
function returned(pid, { state, format, value, error_type: type, code, message }) {
  if (state === 'cancelled') throw new ProcessCancelledError(`child ${pid}: ${message}`, { hint: 'launch it again' });
  if (state === 'failed') {
    throw new ChildFailedError(`child ${pid}: ${type}: ${message}`, {
      hint: 'catch it; its traceback is in the output of the program that launched it',
      details: { child_type: type, child_code: code, child_message: message },
    });
  }
  if (format === 'none') return undefined;
  return format === 'json' ? JSON.parse(value) : value;
}
