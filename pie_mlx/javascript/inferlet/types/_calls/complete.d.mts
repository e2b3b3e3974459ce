/**
 * What completes a reply, by the call that it answers: the wire leaves out fields that have their default.
 * @type {Record<string, Completing>}
 */
export const COMPLETE: Record<string, Completing>;
export type Completing = (found: any) => any;
