export const LOST_ENGINE_STATUS: 69;
export class Link {
    /** `toError(code, kind, message, hint, details)` makes the error of a refused call. */
    constructor(fd: any, toError: any);
    /** Called with the launch of the program. */
    onLaunch: () => void;
    /** Called with the reason when the program is cancelled. */
    onStop: () => void;
    /** Makes a call and blocks until it is answered. Throws the engine's error. */
    callNow(message: any): any;
    /** Makes a call; the promise rejects with the engine's error. Aborting `signal` withdraws the call. */
    call(message: any, signal: any): Promise<any>;
    /** Makes a call without an answer, ordered before everything sent later. */
    post(message: any): void;
    /** Sends program output to `stream`, 'stdout' or 'stderr', in order with its calls. */
    write(stream: any, text: any): void;
    /** Lets the process end once nothing but the link is left: only calls that wait keep it. */
    rest(): void;
    /** Fails every call that waits. */
    failAll(error: any): void;
    /** Sends a frame; blocks while the engine does not read. */
    send(frame: any): void;
    #private;
}
