/** @import { ForwardReply, SentForward } from '../_calls/types.mjs' */
/** The prefetched tokens of a context's last pass; emptied by any other use of the context. */
export class PrefetchBuffer {
    /** The tokens used since the last pass; the next pass reports them to the engine. */
    claimed: number;
    /** Discard the rest, because something else happens to the context. */
    clear(): void;
    /**
     * Keep the prefetched tokens of a reply, which passes like `request` would draw next.
     * @param {SentForward} request
     * @param {ForwardReply} reply
     */
    fill(request: SentForward, reply: ForwardReply): void;
    /**
     * The token that `request` draws, if it is the expected pass.
     * @param {SentForward} request
     */
    draw(request: SentForward): number | undefined;
    /**
     * `request`, with the number of claimed tokens, which then starts at 0 again.
     * @param {SentForward} request
     * @returns {SentForward}
     */
    withClaimed(request: SentForward): SentForward;
    /**
     * Count the claimed tokens of a request that did not run again.
     * @param {SentForward} request
     */
    restoreClaimed(request: SentForward): void;
    #private;
}
import type { SentForward } from '../_calls/types.mjs';
import type { ForwardReply } from '../_calls/types.mjs';
