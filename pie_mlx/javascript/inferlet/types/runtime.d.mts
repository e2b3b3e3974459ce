/** @import { ChildOutcome } from './_calls/types.mjs' */
/** Names of the models that `Model.load` takes, the default one first. */
export function models(): string[];
/** Names of those of them that are in memory now; the others are loaded when they are wanted. */
export function loadedModels(): string[];
/**
 * Those of them that are being loaded now, or that wait for memory: by each name and alias of theirs the part of their
 * weights that is in memory, from 0 to 1.
 * @returns {Record<string, number>}
 */
export function loadingModels(): Record<string, number>;
/** What is known of every model of the engine, its default one first, without loading any. */
export function modelStates(): import("./_calls/types.mjs").ModelState[];
/** Version of the engine. */
export function version(): string;
/** Identifier of this run of the engine. */
export function instanceId(): string;
/** Identifier of this run of the program, the same that `pie ps` shows: no other run has it. */
export function processId(): string;
/** The user who launched the program. */
export function username(): string;
/**
 * Start a program beside this one, for the same user and on the same wallet.
 *
 * `program` is the path of a program in this program's directory, or the name of an installed one. `input` is an
 * object, a string with a JSON object, or another string, which becomes `{ "input": ... }`. Throws LaunchError for an
 * unknown program, an input that does not fit, or too many programs or generations of them.
 * @param {string} program
 * @param {unknown} [input]
 */
export function launch(program: string, input?: unknown): Child;
/** A launched program, which keeps running when this handle is dropped. */
export class Child {
    private constructor();
    /** Its process id, the same that `pie ps` and clients show. @readonly */
    readonly pid: string;
    /**
     * Its return value: text as it is, otherwise the value of its JSON. May be awaited more than once.
     *
     * Throws ChildFailedError with the `childType`, `childCode` and `childMessage` of the error that ended it, and
     * ProcessCancelledError when it was cancelled.
     * @returns {Promise<any>}
     */
    result(): Promise<any>;
    /** Ask it to end; after a grace period the engine abandons it and its children. No error when it has ended. */
    cancel(): void;
    #private;
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
export function spawn(program: string, input?: unknown): Child;
