// Written by `python -m tools.javascript`. Change the Python code, then run it.

/** Base of every error of pie-mlx. The message says what and why, the hint what to do. */
export class PieError extends Error {
  static code = 'pie';

  /**
   * @param {string} message
   * @param {{ hint?: string, details?: Record<string, string | number | boolean | null> }} [more]
   */
  constructor(message, { hint = '', details = {} } = {}) {
    super(message);
    /** What to do. */
    this.hint = hint;
    /** More facts, by the names that cross the wire. */
    this.details = details;
  }

  /** The kind of error, such as `out_of_pages`: the same in every language and version. */
  get code() {
    return /** @type {typeof PieError} */ (this.constructor).code;
  }

  get name() {
    return this.constructor.name;
  }
}

/** An argument outside its range, a bad name or an unknown option. */
export class InvalidArgumentError extends PieError {
  static code = 'invalid_argument';
}

/** An argument of a type that is not accepted. */
export class InvalidTypeError extends PieError {
  static code = 'invalid_type';
}

/** Errors of one context. */
export class ContextError extends PieError {
  static code = 'context';
}

/** The context was released, dropped or moved. */
export class ContextReleasedError extends ContextError {
  static code = 'context_released';
}

/** Not possible while a pass of this context is in flight. */
export class ContextBusyError extends ContextError {
  static code = 'context_busy';
}

/** The pass would exceed the model's maximum positions. */
export class ContextLengthError extends ContextError {
  static code = 'context_length';
}

/** Errors of pages. */
export class PageError extends PieError {
  static code = 'page';
}

/** More pages than the pool can provide. */
export class OutOfPagesError extends PageError {
  static code = 'out_of_pages';
  get needed() {
    return /** @type {number} */ (this.details.needed);
  }
  get capacity() {
    return /** @type {number} */ (this.details.capacity);
  }
}

/** Commit, release or truncate of more than the context has. */
export class PageBoundsError extends PageError {
  static code = 'page_bounds';
}

/** A page that is not full, or positions that do not increase. */
export class PageCommitError extends PageError {
  static code = 'page_commit';
}

/** A low-level pass whose tokens do not fit the pages it reserved. */
export class KvCapacityError extends PageError {
  static code = 'kv_capacity';
}

/** Errors of saved contexts. The base class alone: the disk refused it, or the user keeps too many. */
export class SnapshotError extends PieError {
  static code = 'snapshot';
}

/** No snapshot of that name. */
export class SnapshotNotFoundError extends SnapshotError {
  static code = 'snapshot_not_found';
}

/** A snapshot on disk of another model or tokenizer, or a context that cannot be kept there. */
export class SnapshotIncompatibleError extends SnapshotError {
  static code = 'snapshot_incompatible';
}

/** A limit of the account. */
export class BudgetError extends PieError {
  static code = 'budget';
}

/** The token wallet cannot pay for this pass. */
export class TokenBudgetError extends BudgetError {
  static code = 'token_budget';
  get needed() {
    return /** @type {number} */ (this.details.needed);
  }
  get remaining() {
    return /** @type {number} */ (this.details.remaining);
  }
}

/** The launch can never be admitted. */
export class AdmissionError extends BudgetError {
  static code = 'admission';
}

/** Errors of a forward pass. */
export class ForwardError extends PieError {
  static code = 'forward';
}

/** The batch failed on the device; nothing of it was kept. */
export class BatchFailedError extends ForwardError {
  static code = 'batch_failed';
  get cause() {
    return /** @type {string} */ (this.details.cause);
  }
}

/** A pass waited too long for the device; nothing of it was kept. */
export class ForwardTimeoutError extends ForwardError {
  static code = 'forward_timeout';
}

/** A pass or step was executed twice. */
export class StepConsumedError extends ForwardError {
  static code = 'step_consumed';
}

/** Errors of constrained decoding. */
export class ConstraintError extends PieError {
  static code = 'constraint';
}

/** A grammar that does not compile or cannot be enforced. */
export class GrammarError extends ConstraintError {
  static code = 'grammar';
}

/** A token was fed that the grammar forbids. */
export class GrammarRejectedError extends ConstraintError {
  static code = 'grammar_rejected';
}

/** The masks together allow no token. */
export class EmptyMaskError extends ConstraintError {
  static code = 'empty_mask';
}

/** Malformed drafts, or a speculator that raised. */
export class SpeculationError extends PieError {
  static code = 'speculation';
}

/** Collected text does not parse. */
export class StructuredOutputError extends PieError {
  static code = 'structured_output';
  get text() {
    return /** @type {string} */ (this.details.text);
  }
}

/** Errors of a model. */
export class ModelError extends PieError {
  static code = 'model';
}

/** No such model. */
export class ModelNotFoundError extends ModelError {
  static code = 'model_not_found';
}

/** The model's files cannot be loaded. */
export class ModelLoadError extends ModelError {
  static code = 'model_load';
}

/** The chat template is missing or cannot be split by turns. */
export class TemplateError extends ModelError {
  static code = 'template';
}

/** Errors of an adapter. */
export class AdapterError extends PieError {
  static code = 'adapter';
}

/** The adapter's name is taken. */
export class AdapterExistsError extends AdapterError {
  static code = 'adapter_exists';
}

/** No such adapter, or it was destroyed. */
export class AdapterNotFoundError extends AdapterError {
  static code = 'adapter_not_found';
}

/** The adapter's files hold something unsupported. */
export class AdapterFormatError extends AdapterError {
  static code = 'adapter_format';
}

/** The adapter belongs to another model. */
export class AdapterShapeError extends AdapterError {
  static code = 'adapter_shape';
}

/** Errors of a running inferlet. */
export class ProcessError extends PieError {
  static code = 'process';
}

/** The program cannot be started. */
export class LaunchError extends ProcessError {
  static code = 'launch';
}

/** The name of the program belongs to another user. */
export class ProgramOwnerError extends LaunchError {
  static code = 'program_owner';
  get owner() {
    return /** @type {string} */ (this.details.owner);
  }
}

/** A launched child ended with an error: its class, its code if it was a PieError, and its message. */
export class ChildFailedError extends ProcessError {
  static code = 'child_failed';
  get childType() {
    return /** @type {string} */ (this.details.child_type);
  }
  get childCode() {
    return /** @type {string} */ (this.details.child_code);
  }
  get childMessage() {
    return /** @type {string} */ (this.details.child_message);
  }
}

/** The process was cancelled. */
export class ProcessCancelledError extends ProcessError {
  static code = 'process_cancelled';
}

/** Errors of communication. */
export class ChannelError extends PieError {
  static code = 'channel';
}

/** The client is gone. */
export class SessionClosedError extends ChannelError {
  static code = 'session_closed';
}

/** A subscription dropped messages, or the topics of a user hold too much. */
export class MessageOverflowError extends ChannelError {
  static code = 'message_overflow';
  get dropped() {
    return /** @type {number} */ (this.details.dropped);
  }
}

/** An MCP server is unknown or answered with an error: `rpc_code` of JSON-RPC, and `data` as JSON text or "". */
export class McpError extends ChannelError {
  static code = 'mcp';
  get rpcCode() {
    return /** @type {number} */ (this.details.rpc_code);
  }
  get data() {
    return /** @type {string} */ (this.details.data);
  }
}

/** The configuration is invalid. */
export class ConfigError extends PieError {
  static code = 'config';
}

/** A frame violates the protocol. */
export class ProtocolError extends PieError {
  static code = 'protocol';
}

/** Authentication failed. */
export class AuthError extends PieError {
  static code = 'auth';
}

/** The server does not prove which engine it is, or another engine is known at this address. */
export class EngineKeyError extends AuthError {
  static code = 'engine_key';
}

/** The engine has stopped. */
export class EngineStoppedError extends PieError {
  static code = 'engine_stopped';
}

const CLASSES = new Map([
  InvalidArgumentError,
  InvalidTypeError,
  ContextError,
  ContextReleasedError,
  ContextBusyError,
  ContextLengthError,
  PageError,
  OutOfPagesError,
  PageBoundsError,
  PageCommitError,
  KvCapacityError,
  SnapshotError,
  SnapshotNotFoundError,
  SnapshotIncompatibleError,
  BudgetError,
  TokenBudgetError,
  AdmissionError,
  ForwardError,
  BatchFailedError,
  ForwardTimeoutError,
  StepConsumedError,
  ConstraintError,
  GrammarError,
  GrammarRejectedError,
  EmptyMaskError,
  SpeculationError,
  StructuredOutputError,
  ModelError,
  ModelNotFoundError,
  ModelLoadError,
  TemplateError,
  AdapterError,
  AdapterExistsError,
  AdapterNotFoundError,
  AdapterFormatError,
  AdapterShapeError,
  ProcessError,
  LaunchError,
  ProgramOwnerError,
  ChildFailedError,
  ProcessCancelledError,
  ChannelError,
  SessionClosedError,
  MessageOverflowError,
  McpError,
  ConfigError,
  ProtocolError,
  AuthError,
  EngineKeyError,
  EngineStoppedError,
].map((kind) => [kind.code, kind]));

/**
 * The error of a reply; an unknown code of a newer engine becomes a plain PieError.
 * @param {string} code
 * @param {string} message
 * @param {string} [hint]
 * @param {Record<string, string | number | boolean | null>} [details]
 * @returns {PieError}
 */
export function errorFromCode(code, message, hint = '', details = {}) {
  return new (CLASSES.get(code) ?? PieError)(message, { hint, details });
}
