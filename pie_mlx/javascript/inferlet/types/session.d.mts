/** A wait that `signal` ends. @typedef {{ signal?: AbortSignal }} WaitOptions */
/**
 * Send a message: a string unchanged, anything else as JSON. Throws InvalidTypeError for what JSON cannot hold,
 * InvalidArgumentError for text that is not Unicode.
 * @param {unknown} message
 */
export function send(message: unknown): void;
/**
 * Send a file, optionally with a name for it. Throws InvalidTypeError for anything but bytes.
 * @param {Uint8Array | ArrayBuffer} data
 * @param {string} [name]
 */
export function sendFile(data: Uint8Array | ArrayBuffer, name?: string): void;
/**
 * The next message or signal of the client, in order. Aborting the wait loses none. Throws SessionClosedError when
 * there is no client.
 * @param {WaitOptions} [options]
 * @returns {Promise<string>}
 */
export function receive({ signal }?: WaitOptions): Promise<string>;
/**
 * The next file of the client, in order. Aborting the wait loses none. Throws SessionClosedError when there is no
 * client.
 * @param {WaitOptions} [options]
 * @returns {Promise<Uint8Array>}
 */
export function receiveFile({ signal }?: WaitOptions): Promise<Uint8Array>;
/**
 * A wait that `signal` ends.
 */
export type WaitOptions = {
    signal?: AbortSignal;
};
