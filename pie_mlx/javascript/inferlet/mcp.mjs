/** Tools, resources and prompts of MCP servers: those the client registered and those of the engine. */

import { checkedText } from './_calls/checks.mjs';
import { call, callNow } from './_calls/host.mjs';
import { jsonText } from './_calls/payload.mjs';
import { InvalidTypeError, McpError } from './errors.mjs';

const INVALID_PARAMS = -32602;
const CLOSED = -32000;

/**
 * Arguments of a tool or a prompt: an object, or JSON text of one.
 * @typedef {Record<string, unknown> | string} McpArguments
 */

/** Names of the available servers. */
export function availableServers() {
  return callNow('list_mcp_servers', {});
}

/**
 * A session with a server. Throws McpError with `rpcCode` -1 for a name that is not registered.
 * @param {string} name
 */
export function connect(name) {
  callNow('connect_mcp', { server: checkedText(name, 'MCP server') });
  return new McpSession(name);
}

/**
 * A server as a program uses it. Each method returns the `result` of the response as JSON text, unparsed.
 *
 * The methods block this program, not the engine; `request` does not. All throw McpError: `rpcCode`, the message and
 * `data` (JSON text or '') are those of the server's error; -32602 stands for arguments that are not a JSON object,
 * -32000 for no answer.
 */
export class McpSession {
  /** The server's name. @readonly */
  name;
  #closed = false;

  /** @param {string} name @internal */
  constructor(name) {
    this.name = name;
  }

  /** `{"tools": [...]}` */
  listTools() {
    return this.#call('tools/list', '{}');
  }

  /**
   * Call a tool. Whether the tool failed is in `isError` of the result.
   * @param {string} name
   * @param {McpArguments} [args]
   */
  callTool(name, args = {}) {
    return this.#call('tools/call', named(name, args));
  }

  /** `{"resources": [...]}` */
  listResources() {
    return this.#call('resources/list', '{}');
  }

  /**
   * `{"contents": [...]}`
   * @param {string} uri
   */
  readResource(uri) {
    return this.#call('resources/read', jsonText('MCP uri', { uri: checkedText(uri, 'MCP uri') }));
  }

  /** `{"prompts": [...]}` */
  listPrompts() {
    return this.#call('prompts/list', '{}');
  }

  /**
   * `{"messages": [...]}`
   * @param {string} name
   * @param {McpArguments} [args]
   */
  getPrompt(name, args = {}) {
    return this.#call('prompts/get', named(name, args));
  }

  /**
   * Any of these by its JSON-RPC method (`tools/call`), while other work of this program goes on.
   * @param {string} method
   * @param {McpArguments} [params]
   */
  async request(method, params = {}) {
    this.#checkOpen();
    return await call('call_mcp', {
      server: this.name,
      method: checkedText(method, 'MCP method'),
      params: object(params),
    });
  }

  /** Later calls throw McpError. The server keeps running, because others may use it. */
  close() {
    this.#closed = true;
  }

  [Symbol.dispose]() {
    this.close();
  }

  /** @param {string} method @param {string} params */
  #call(method, params) {
    this.#checkOpen();
    return callNow('call_mcp', { server: this.name, method, params });
  }

  #checkOpen() {
    if (!this.#closed) return;
    const details = { rpc_code: CLOSED, data: '' };
    throw new McpError(`MCP session with '${this.name}': it was closed`, { hint: 'connect again', details });
  }
}

/** The params of a call by name, the arguments as they were written. @param {string} name @param {McpArguments} args */
function named(name, args) {
  return `{"name":${JSON.stringify(checkedText(name, 'MCP name'))},"arguments":${object(args)}}`;
}

/** The text of a JSON object. Throws McpError (-32602). @param {McpArguments} args */
function object(args) {
  let text, value;
  try {
    text = typeof args === 'string' ? checkedText(args, 'MCP arguments') : jsonText('MCP arguments', args ?? {});
    value = JSON.parse(text);
  } catch (error) {
    throw error instanceof SyntaxError || error instanceof InvalidTypeError ? refused(error.message) : error;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw refused('they are not a JSON object');
  return text;
}

/** @param {string} why */
function refused(why) {
  const hint = 'pass an object such as { city: "Oslo" }';
  return new McpError(`MCP arguments: ${why}`, { hint, details: { rpc_code: INVALID_PARAMS, data: '' } });
}
