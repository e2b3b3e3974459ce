/** What the SDK needs of the link: promises of replies, calls that block, and calls nobody waits for. */

export function call(name: string, fields?: object, signal?: AbortSignal): Promise<any>;
export function callNow(name: string, fields?: object): any;
export function post(name: string, fields?: object): void;
