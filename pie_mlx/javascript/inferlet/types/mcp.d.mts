/**
 * Arguments of a tool or a prompt: an object, or JSON text of one.
 * @typedef {Record<string, unknown> | string} McpArguments
 */
/** Names of the available servers. */
export function availableServers(): string[];
/**
 * A session with a server. Throws McpError with `rpcCode` -1 for a name that is not registered.
 * @param {string} name
 */
export function connect(name: string): McpSession;
/**
 * A server as a program uses it. Each method returns the `result` of the response as JSON text, unparsed.
 *
 * The methods block this program, not the engine; `request` does not. All throw McpError: `rpcCode`, the message and
 * `data` (JSON text or '') are those of the server's error; -32602 stands for arguments that are not a JSON object,
 * -32000 for no answer.
 */
export class McpSession {
    private constructor();
    /** The server's name. @readonly */
    readonly name: string;
    /** `{"tools": [...]}` */
    listTools(): string;
    /**
     * Call a tool. Whether the tool failed is in `isError` of the result.
     * @param {string} name
     * @param {McpArguments} [args]
     */
    callTool(name: string, args?: McpArguments): string;
    /** `{"resources": [...]}` */
    listResources(): string;
    /**
     * `{"contents": [...]}`
     * @param {string} uri
     */
    readResource(uri: string): string;
    /** `{"prompts": [...]}` */
    listPrompts(): string;
    /**
     * `{"messages": [...]}`
     * @param {string} name
     * @param {McpArguments} [args]
     */
    getPrompt(name: string, args?: McpArguments): string;
    /**
     * Any of these by its JSON-RPC method (`tools/call`), while other work of this program goes on.
     * @param {string} method
     * @param {McpArguments} [params]
     */
    request(method: string, params?: McpArguments): Promise<string>;
    /** Later calls throw McpError. The server keeps running, because others may use it. */
    close(): void;
    [Symbol.dispose](): void;
    #private;
}
/**
 * Arguments of a tool or a prompt: an object, or JSON text of one.
 */
export type McpArguments = Record<string, unknown> | string;
