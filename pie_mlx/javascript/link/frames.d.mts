/** A frame with its length. */
export function pack(frame: any): Buffer<ArrayBuffer>;
export const READ_BYTES: number;
export class FrameCutter {
    /** Adds what `read(buffer, offset, length)` reads; returns how many bytes that were. */
    receive(read: any): any;
    feed(bytes: any): void;
    /** The next frame; undefined until it is complete. */
    next(): any;
    #private;
}
