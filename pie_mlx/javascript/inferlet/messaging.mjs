/** Messages between the programs of a user: queues, where each message goes to one, and broadcasts to all. */

import { checkedText } from './_calls/checks.mjs';
import { call, callNow, forgetOwner, post, whenCollected } from './_calls/host.mjs';
import { messageText } from './_calls/payload.mjs';

/** @import { WaitOptions } from './session.mjs' */

let lastTicket = 0;

/**
 * Append a message to the topic's queue: a string as it is, anything else as JSON. Blocks while the queue is full.
 *
 * Throws InvalidArgumentError for a topic or a message that is too long, MessageOverflowError when too many messages of
 * this user wait to be pulled.
 * @param {string} topic
 * @param {unknown} message
 */
export function push(topic, message) {
  callNow('push', { topic: checkedText(topic, 'topic'), text: messageText('messaging.push', message) });
}

/**
 * Wait for the next message of the topic's queue. Pullers are served in order; aborting the wait loses no message.
 *
 * Throws ChildFailedError, once for each, if it would wait and a child of this program has failed: one whose handle is
 * kept, and whose result is not awaited elsewhere.
 * @param {string} topic
 * @param {WaitOptions} [options]
 * @returns {Promise<string>}
 */
export async function pull(topic, { signal } = {}) {
  let text = callNow('take_message', { topic: checkedText(topic, 'topic') });
  while (text === null) {
    lastTicket += 1;
    const ticket = lastTicket;
    await waitForTurn(topic, ticket, signal);
    text = callNow('take_message', { topic, ticket });
  }
  return text;
}

/**
 * Send a message to all present subscribers: a string as it is, anything else as JSON. Throws InvalidArgumentError for
 * a topic or a message that is too long.
 * @param {string} topic
 * @param {unknown} message
 */
export function broadcast(topic, message) {
  callNow('broadcast', { topic: checkedText(topic, 'topic'), text: messageText('messaging.broadcast', message) });
}

/**
 * Open a subscription. Throws InvalidArgumentError for a topic that is too long or too many subscriptions.
 * @param {string} topic
 */
export function subscribe(topic) {
  return new Subscription(topic, callNow('subscribe', { topic: checkedText(topic, 'topic') }));
}

/**
 * Queue until a message is reserved for `ticket`; a wait that ends otherwise returns the ticket.
 * @param {string} topic
 * @param {number} ticket
 * @param {AbortSignal} [signal]
 */
async function waitForTurn(topic, ticket, signal) {
  try {
    await call('await_message', { topic, ticket }, signal);
  } catch (error) {
    post('leave_topic', { topic, ticket });
    throw error;
  }
}

/**
 * The broadcasts of a topic since it was opened, in order, until `unsubscribe`, the end of `using` or of the program.
 *
 * It keeps messages until they are read. When too many wait, the newest are dropped; the next read then throws
 * MessageOverflowError once, and later reads return the messages that were kept.
 */
export class Subscription {
  /** @readonly */
  topic;
  #number;
  #closed = false;
  #dropped = 0;

  /** @param {string} topic @param {number} number @internal */
  constructor(topic, number) {
    this.topic = topic;
    this.#number = number;
    whenCollected(this, () => post('unsubscribe', { subscription: number }));
  }

  /** The number of messages dropped so far. */
  get dropped() {
    if (!this.#closed) this.#dropped = callNow('count_dropped', { subscription: this.#number });
    return this.#dropped;
  }

  /**
   * The next message; undefined when there is none now. Throws MessageOverflowError.
   * @returns {string | undefined}
   */
  get() {
    return this.#closed ? undefined : (callNow('read_subscription', { subscription: this.#number }) ?? undefined);
  }

  /**
   * Wait for the next message; undefined after `unsubscribe`. Aborting the wait loses none. Throws
   * MessageOverflowError, and ChildFailedError as `pull` does.
   * @param {WaitOptions} [options]
   * @returns {Promise<string | undefined>}
   */
  async next({ signal } = {}) {
    let text = this.get();
    while (text === undefined && !this.#closed) {
      if (!(await call('await_broadcast', { subscription: this.#number }, signal))) break;
      text = this.get();
    }
    return text;
  }

  /** Close it; unread messages are lost. Closing twice is no error. */
  unsubscribe() {
    if (this.#closed) return;
    this.#dropped = this.dropped;
    this.#closed = true;
    forgetOwner(this);
    callNow('unsubscribe', { subscription: this.#number });
  }

  /** The messages to come, until it is closed. @returns {AsyncGenerator<string, void>} */
  async *[Symbol.asyncIterator]() {
    for (;;) {
      const text = await this.next();
      if (text === undefined) return;
      yield text;
    }
  }

  [Symbol.dispose]() {
    this.unsubscribe();
  }
}
