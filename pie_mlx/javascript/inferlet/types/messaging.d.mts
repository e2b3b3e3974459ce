/**
 * Append a message to the topic's queue: a string as it is, anything else as JSON. Blocks while the queue is full.
 *
 * Throws InvalidArgumentError for a topic or a message that is too long, MessageOverflowError when too many messages of
 * this user wait to be pulled.
 * @param {string} topic
 * @param {unknown} message
 */
export function push(topic: string, message: unknown): void;
/**
 * Wait for the next message of the topic's queue. Pullers are served in order; aborting the wait loses no message.
 *
 * Throws ChildFailedError, once for each, if it would wait and a child of this program has failed: one whose handle is
 * kept, and whose result is not awaited elsewhere.
 * @param {string} topic
 * @param {WaitOptions} [options]
 * @returns {Promise<string>}
 */
export function pull(topic: string, { signal }?: WaitOptions): Promise<string>;
/**
 * Send a message to all present subscribers: a string as it is, anything else as JSON. Throws InvalidArgumentError for
 * a topic or a message that is too long.
 * @param {string} topic
 * @param {unknown} message
 */
export function broadcast(topic: string, message: unknown): void;
/**
 * Open a subscription. Throws InvalidArgumentError for a topic that is too long or too many subscriptions.
 * @param {string} topic
 */
export function subscribe(topic: string): Subscription;
/**
 * The broadcasts of a topic since it was opened, in order, until `unsubscribe`, the end of `using` or of the program.
 *
 * It keeps messages until they are read. When too many wait, the newest are dropped; the next read then throws
 * MessageOverflowError once, and later reads return the messages that were kept.
 */
export class Subscription {
    private constructor();
    /** @readonly */
    readonly topic: string;
    /** The number of messages dropped so far. */
    get dropped(): number;
    /**
     * The next message; undefined when there is none now. Throws MessageOverflowError.
     * @returns {string | undefined}
     */
    get(): string | undefined;
    /**
     * Wait for the next message; undefined after `unsubscribe`. Aborting the wait loses none. Throws
     * MessageOverflowError, and ChildFailedError as `pull` does.
     * @param {WaitOptions} [options]
     * @returns {Promise<string | undefined>}
     */
    next({ signal }?: WaitOptions): Promise<string | undefined>;
    /** Close it; unread messages are lost. Closing twice is no error. */
    unsubscribe(): void;
    /** The messages to come, until it is closed. @returns {AsyncGenerator<string, void>} */
    [Symbol.asyncIterator](): AsyncGenerator<string, void>;
    [Symbol.dispose](): void;
    #private;
}
import type { WaitOptions } from './session.mjs';
