/**
 * The error of a reply; an unknown code of a newer engine becomes a plain PieError.
 * @param {string} code
 * @param {string} message
 * @param {string} [hint]
 * @param {Record<string, string | number | boolean | null>} [details]
 * @returns {PieError}
 */
export function errorFromCode(code: string, message: string, hint?: string, details?: Record<string, string | number | boolean | null>): PieError;
/** Base of every error of pie-mlx. The message says what and why, the hint what to do. */
export class PieError extends Error {
    static code: string;
    /**
     * @param {string} message
     * @param {{ hint?: string, details?: Record<string, string | number | boolean | null> }} [more]
     */
    constructor(message: string, { hint, details }?: {
        hint?: string;
        details?: Record<string, string | number | boolean | null>;
    });
    /** What to do. */
    hint: string;
    /** More facts, by the names that cross the wire. */
    details: Record<string, string | number | boolean | null>;
    /** The kind of error, such as `out_of_pages`: the same in every language and version. */
    get code(): string;
    get name(): string;
}
/** An argument outside its range, a bad name or an unknown option. */
export class InvalidArgumentError extends PieError {
}
/** An argument of a type that is not accepted. */
export class InvalidTypeError extends PieError {
}
/** Errors of one context. */
export class ContextError extends PieError {
}
/** The context was released, dropped or moved. */
export class ContextReleasedError extends ContextError {
}
/** Not possible while a pass of this context is in flight. */
export class ContextBusyError extends ContextError {
}
/** The pass would exceed the model's maximum positions. */
export class ContextLengthError extends ContextError {
}
/** Errors of pages. */
export class PageError extends PieError {
}
/** More pages than the pool can provide. */
export class OutOfPagesError extends PageError {
    get needed(): number;
    get capacity(): number;
}
/** Commit, release or truncate of more than the context has. */
export class PageBoundsError extends PageError {
}
/** A page that is not full, or positions that do not increase. */
export class PageCommitError extends PageError {
}
/** A low-level pass whose tokens do not fit the pages it reserved. */
export class KvCapacityError extends PageError {
}
/** Errors of saved contexts. The base class alone: the disk refused it, or the user keeps too many. */
export class SnapshotError extends PieError {
}
/** No snapshot of that name. */
export class SnapshotNotFoundError extends SnapshotError {
}
/** A snapshot on disk of another model or tokenizer, or a context that cannot be kept there. */
export class SnapshotIncompatibleError extends SnapshotError {
}
/** A limit of the account. */
export class BudgetError extends PieError {
}
/** The token wallet cannot pay for this pass. */
export class TokenBudgetError extends BudgetError {
    get needed(): number;
    get remaining(): number;
}
/** The launch can never be admitted. */
export class AdmissionError extends BudgetError {
}
/** Errors of a forward pass. */
export class ForwardError extends PieError {
}
/** The batch failed on the device; nothing of it was kept. */
export class BatchFailedError extends ForwardError {
    get cause(): string;
}
/** A pass waited too long for the device; nothing of it was kept. */
export class ForwardTimeoutError extends ForwardError {
}
/** A pass or step was executed twice. */
export class StepConsumedError extends ForwardError {
}
/** Errors of constrained decoding. */
export class ConstraintError extends PieError {
}
/** A grammar that does not compile or cannot be enforced. */
export class GrammarError extends ConstraintError {
}
/** A token was fed that the grammar forbids. */
export class GrammarRejectedError extends ConstraintError {
}
/** The masks together allow no token. */
export class EmptyMaskError extends ConstraintError {
}
/** Malformed drafts, or a speculator that raised. */
export class SpeculationError extends PieError {
}
/** Collected text does not parse. */
export class StructuredOutputError extends PieError {
    get text(): string;
}
/** Errors of a model. */
export class ModelError extends PieError {
}
/** No such model. */
export class ModelNotFoundError extends ModelError {
}
/** The model's files cannot be loaded. */
export class ModelLoadError extends ModelError {
}
/** The chat template is missing or cannot be split by turns. */
export class TemplateError extends ModelError {
}
/** Errors of an adapter. */
export class AdapterError extends PieError {
}
/** The adapter's name is taken. */
export class AdapterExistsError extends AdapterError {
}
/** No such adapter, or it was destroyed. */
export class AdapterNotFoundError extends AdapterError {
}
/** The adapter's files hold something unsupported. */
export class AdapterFormatError extends AdapterError {
}
/** The adapter belongs to another model. */
export class AdapterShapeError extends AdapterError {
}
/** Errors of a running inferlet. */
export class ProcessError extends PieError {
}
/** The program cannot be started. */
export class LaunchError extends ProcessError {
}
/** The name of the program belongs to another user. */
export class ProgramOwnerError extends LaunchError {
    get owner(): string;
}
/** A launched child ended with an error: its class, its code if it was a PieError, and its message. */
export class ChildFailedError extends ProcessError {
    get childType(): string;
    get childCode(): string;
    get childMessage(): string;
}
/** The process was cancelled. */
export class ProcessCancelledError extends ProcessError {
}
/** Errors of communication. */
export class ChannelError extends PieError {
}
/** The client is gone. */
export class SessionClosedError extends ChannelError {
}
/** A subscription dropped messages, or the topics of a user hold too much. */
export class MessageOverflowError extends ChannelError {
    get dropped(): number;
}
/** An MCP server is unknown or answered with an error: `rpc_code` of JSON-RPC, and `data` as JSON text or "". */
export class McpError extends ChannelError {
    get rpcCode(): number;
    get data(): string;
}
/** The configuration is invalid. */
export class ConfigError extends PieError {
}
/** A frame violates the protocol. */
export class ProtocolError extends PieError {
}
/** Authentication failed. */
export class AuthError extends PieError {
}
/** The server does not prove which engine it is, or another engine is known at this address. */
export class EngineKeyError extends AuthError {
}
/** The engine has stopped. */
export class EngineStoppedError extends PieError {
}
