/**
 * Whole numbers as a call takes them.
 */
export type Ints = readonly number[] | Uint32Array;
/**
 * A matcher. `complete`: it may end here. `terminated`: it has ended, or nothing may follow (G13).
 *
 * `warnings`: JSON path and reason of the parts that a leniently compiled schema does not enforce.
 */
export type MatcherState = {
    matcher: number;
    complete: boolean;
    terminated: boolean;
    warnings: (string)[];
};
/**
 * How a child ended. `value` and `format` are its return value, the other fields the exception that ended it.
 *
 * `code` is the code of a PieError and "" for other exceptions.
 */
export type ChildOutcome = {
    state: "cancelled" | "failed" | "returned";
    value: string;
    format: "json" | "none" | "text";
    error_type: string;
    code: string;
    message: string;
};
/**
 * Committed pages, working pages, and all working tokens (P9).
 */
export type PageCounters = {
    committed: number;
    working: number;
    working_tokens: number;
};
/**
 * An adapter. Every change of its weights raises `version` (A4); `size_bytes` is their size in memory.
 */
export type AdapterState = {
    adapter: number;
    name: string;
    version: number;
    size_bytes: number;
};
/**
 * A context that the caller owns.
 */
export type ContextState = {
    context: number;
    counters: PageCounters;
};
/**
 * A model that can be loaded. One in memory has contexts of up to `maximum_positions` tokens, 0 otherwise.
 *
 * `draft_model` guesses for it. `programs` use it now; unused, it leaves in `expires_in_seconds`, and `stays` says why
 * it does not.
 */
export type ModelState = {
    name: string;
    state: "failed" | "loaded" | "loading" | "unloaded" | "unloading";
    aliases: (string)[];
    draft_model: string;
    maximum_positions: number;
    programs: number;
    stays: string;
    expires_in_seconds: number | null;
};
/**
 * Facts of the runtime of this inferlet. Of its `models` those `loaded` are in memory now; those `loading` are on
 * their way there, by name and alias, with the part of their weights that is there, from 0 to 1.
 */
export type RuntimeInfo = {
    version: string;
    instance_id: string;
    username: string;
    models: (string)[];
    process_id: string;
    loaded: (string)[];
    loading: Record<string, number> | ReadonlyMap<number, number>;
};
/**
 * Vectors one after the other, float32 in little-endian bytes, each of `dimensions` values; and the tokens of each
 * text.
 */
export type Embeddings = {
    vectors: Uint8Array;
    dimensions: number;
    tokens: (number)[];
};
/**
 * One token per draw, and for a sampler with `scores` the log-probability of each. `states` are those that each
 * draw leaves for the next one, in the order of the rule's graph; `ended` tells whether the rule ended the text.
 */
export type SampledTokens = {
    result: "sampled_tokens";
    tokens: (number)[];
    logprobs: (number)[];
    states: ((number)[])[];
    ended: boolean;
};
/**
 * Vocabulary × 4 bytes, native-endian float32.
 */
export type RawLogits = {
    result: "raw_logits";
    data: Uint8Array;
};
/**
 * Token ids and probabilities, falling.
 */
export type Probabilities = {
    result: "probabilities";
    token_ids: (number)[];
    probabilities: (number)[];
};
/**
 * Log-probabilities in request order.
 */
export type LogprobValues = {
    result: "logprob_values";
    values: (number)[];
};
/**
 * Entropy in nats.
 */
export type EntropyValue = {
    result: "entropy_value";
    nats: number;
};
/**
 * The state's float32 values, as many as the model is wide.
 */
export type HiddenStateValues = {
    result: "hidden_state_values";
    values: (number)[];
};
/**
 * Page scores of `groups` head groups, layer by layer, or of one that stands for all: `groups` × pages × 4 bytes,
 * native-endian float32.
 */
export type AttentionScoreValues = {
    result: "attention_score_values";
    groups: number;
    data: Uint8Array;
};
/**
 * Why the page from token `position` of the context on was not cached, although the ones before it were.
 *
 * `new`: no cached page of this user goes on there. `differs`: one does, and reads `cached_text` where this prompt
 * reads `text`, from `position` on. `adapter`, `mask` and `positions`: a cached page has the same tokens, computed
 * with another adapter, mask or positions. `evicted`: the page made room at `evicted_at` (Unix seconds) for
 * `evicted_for`, which is empty if that is not known, or not for this user to know. `state`: the pages are there, but
 * not what recurrent layers remember after them.
 */
export type Miss = {
    reason: "adapter" | "differs" | "evicted" | "mask" | "new" | "positions" | "state";
    position: number;
    text: string;
    cached_text: string;
    evicted_at: number;
    evicted_for: string;
};
/**
 * The tokens of prompts by how they came to have KV: attached `from_memory` or `from_disk`, `replayed` by recurrent
 * layers over attached pages, or `computed`. `from_disk` also counts what was read to bring a context back that had
 * left the pool, or was opened. `miss` is about the first page that was not attached, None if all were.
 */
export type Reuse = {
    from_memory: number;
    from_disk: number;
    replayed: number;
    computed: number;
    miss: Miss | null;
};
/**
 * Slot results in slot order, the page counters after the pass, and whether a matcher has terminated.
 *
 * `attached` of its inputs were not computed: their pages were cached. `replayed` tokens were known and computed
 * again: those of the inputs whose pages were cached beyond the last kept state of recurrent layers, and those that
 * the context had lost before the pass. `drafted` guesses of `drafted_by` were run after the inputs, and `accepted` of
 * them were right. The first `kept` of the tokens that a speculating or continued pass drew are in KV. `prefetched`
 * are those of steps that follow, of which the context counts nothing yet. `reuse` is there if a page could have been
 * attached. Of the drawn tokens, `forced` were appended without being drawn, as a grammar left no choice (G16).
 * `others` are the counters of the other contexts.
 */
export type ForwardReply = {
    results: (SampledTokens | RawLogits | Probabilities | LogprobValues | EntropyValue | HiddenStateValues | AttentionScoreValues)[];
    counters: PageCounters;
    grammar_terminated: boolean;
    attached: number;
    drafted: number;
    kept: number;
    prefetched: (number)[];
    replayed: number;
    reuse: Reuse | null;
    forced: number;
    others: (PageCounters)[];
    accepted: number;
    drafted_by: string;
};
/**
 * How a model marks its reasoning. `opened_by_cue`: the cue itself opens the block, so text starts inside it.
 */
export type ReasoningFormat = {
    opening: string;
    closing: string;
    opened_by_cue: boolean;
};
/**
 * How a model marks tool calls: text between one of `openings` and `closing` (empty: to the end of the turn).
 *
 * `style` names the family. A whole reply that begins with the character `bare` may be a call too (Llama).
 */
export type ToolFormat = {
    style: string;
    openings: (string)[];
    closing: string;
    bare: string;
};
/**
 * The formats of a model that a decoder must know.
 *
 * `control_tokens` are never part of visible text. `channels`: replies are split by header tokens (gpt-oss).
 * `answer_opening`: the end of what stands between the cue and the text of a reply, if anything: the closing
 * of the reasoning that the cue has opened, or the header of the channel for answers.
 * `strips_first_space`: the tokenizer writes a space before a text's first word that does not belong to the text.
 */
export type Formats = {
    stop_tokens: (number)[];
    control_tokens: (number)[];
    reasoning: ReasoningFormat | null;
    tools: ToolFormat | null;
    channels: boolean;
    answer_opening: string;
    strips_first_space: boolean;
};
/**
 * How a model makes vectors of `dimensions` values: of its final hidden states it takes the mean, the `last` one,
 * the first one (`cls`) or the largest values (`max`), of length 1 where it `normalizes`.
 *
 * A text has at most `maximum_tokens`, those included that the tokenizer puts around it. `prompts` by name are texts
 * to put before others, `default_prompt` where none is named. To rerank, a cross-encoder `scores` query and document
 * together, a decoder trained for it `judges` them, and any other model `compares` their vectors.
 */
export type EmbeddingFormat = {
    pooling: "cls" | "last" | "max" | "mean";
    normalizes: boolean;
    dimensions: number;
    maximum_tokens: number;
    prompts: Record<string, string> | ReadonlyMap<number, string>;
    default_prompt: string;
    reranking: "compares" | "judges" | "scores";
};
/**
 * A loaded model. `maximum_positions` bounds positions (F4); `vocabulary_size` is the width of a logits row,
 * `hidden_size` that of a hidden state, 0 if none can be read. Its chat template reads the variables
 * `template_variables`; without a chat template of its own it is given ChatML. Its attention layers have
 * `attention_groups` KV heads together, 0 if their scores cannot be read. An encoder makes vectors, and `generates` no
 * text.
 */
export type ModelInfo = {
    name: string;
    vocabulary_size: number;
    page_size: number;
    maximum_positions: number;
    formats: Formats;
    hidden_size: number;
    template_variables: (string)[];
    has_chat_template: boolean;
    attention_groups: number;
    generates: boolean;
    embedding: EmbeddingFormat | null;
};
/**
 * A tool call: name and JSON text of the arguments.
 */
export type ParsedToolCall = {
    name: string;
    arguments: string;
};
/**
 * One step of a conversation.
 *
 * `text` is the content. `name` is the tool that a `tool_result` belongs to, or, for a `seal`, the tool that the reply
 * called, if known. `schemas` are the JSON texts of the `tools`; `calls` are the calls of a past `assistant` turn.
 * `cue` opens the assistant's turn, `seal` ends it, `flush` writes turns that were held for a first user turn.
 */
export type Turn = {
    role: "assistant" | "cue" | "flush" | "seal" | "system" | "tool_result" | "tools" | "user";
    text: string;
    name: string;
    schemas: (string)[];
    calls: (ParsedToolCall)[];
};
/**
 * How far a conversation is written. `last` is the last turn written; None at the start, "flush" for raw tokens.
 *
 * `held` turns wait for the first user turn; `due` is the end of the last turn, if the next turn decides it;
 * `owed` is text that precedes the next turn; `inline`: the tokens so far end with ordinary text. `turns` is
 * the history so far, kept only for templates that need it. `began` is when the conversation began, in ISO 8601, ""
 * where the template tells no date.
 */
export type ChatState = {
    last: "assistant" | "cue" | "flush" | "seal" | "system" | "tool_result" | "tools" | "user" | null;
    held: (Turn)[];
    due: string;
    owed: string;
    inline: boolean;
    turns: (Turn)[];
    began: string;
};
/**
 * What the SDK holds for a context and has no KV yet: buffered tokens and the state of the conversation.
 *
 * `cued` is the slot after the last cue; `lead` are the tokens of the reply to it that decide what comes next: the
 * header of a message, the end of a thought. `stopped`: a stop token has ended the text, and
 * nothing was buffered since.
 */
export type PendingInput = {
    tokens: (number)[];
    chat: ChatState;
    cued: number | null;
    lead: (number)[];
    stopped: boolean;
};
/**
 * A context made from a snapshot, and its pending input at the time of saving.
 */
export type OpenedSnapshot = {
    state: ContextState;
    pending: PendingInput;
};
/**
 * A part of a saved adapter: its adapter_config.json, and bytes of its safetensors file of `size_bytes`.
 */
export type AdapterPart = {
    config: string;
    size_bytes: number;
    data: Uint8Array;
};
/**
 * `query` is the raw text after the question mark; header names are in lower case, in the order of arrival.
 */
export type HttpRequest = {
    method: string;
    path: string;
    query: string;
    headers: ([string, string])[];
    body: Uint8Array;
};
/**
 * The latest settlement (M14): credits, credits per page per tick, credits per tick, seconds per tick.
 */
export type MarketReading = {
    balance: number;
    rent: number;
    dividend: number;
    latency_seconds: number;
    page_price: number;
};
/**
 * Token ids and their bytes, as parallel lists.
 */
export type Vocabulary = {
    token_ids: (number)[];
    tokens: (Uint8Array)[];
};
/**
 * Tokens of a turn and the state after it.
 */
export type RenderedTurn = {
    tokens: (number)[];
    state: ChatState;
};
/**
 * The score of each document, higher is better, and the tokens that were read for it.
 */
export type Relevance = {
    scores: (number)[];
    tokens: (number)[];
};
/**
 * Feed tokens. Raises GrammarRejectedError and changes nothing if one of them is forbidden.
 */
export type SentAdvanceMatcher = {
    matcher: number | bigint;
    tokens: Ints;
};
/**
 * Wait until there is a message to read; False means that the subscription is closed.
 */
export type SentAwaitBroadcast = {
    subscription: number | bigint;
};
/**
 * Wait for the end of a child of the caller.
 */
export type SentAwaitChild = {
    child: string;
};
/**
 * Wait until the client has sent something. Taking it is another call, so that a cancelled wait loses nothing.
 *
 * Raises SessionClosedError if there is no client to wait for.
 */
export type SentAwaitIncoming = {
    what: "file" | "message";
};
/**
 * Wait, in line, until a message of the topic's queue is kept for this `ticket`, a number the caller chose.
 */
export type SentAwaitMessage = {
    topic: string;
    ticket: number | bigint;
};
/**
 * Status and headers of the answer; once. Raises InvalidArgumentError for invalid ones, or the second time.
 */
export type SentBeginHttpAnswer = {
    status: number | bigint;
    headers?: readonly [string, string][] | undefined;
};
/**
 * Give a message to every subscription of the topic that is open now (I4).
 */
export type SentBroadcast = {
    topic: string;
    text: string;
};
/**
 * One JSON-RPC request to a server; `params` and the reply, the `result` of the response, are JSON text.
 *
 * Raises McpError: the server's error, -1 for an unknown server, -32602 for params that are no JSON object,
 * -32000 without an answer.
 */
export type SentCallMcp = {
    server: string;
    method: string;
    params?: string | undefined;
};
/**
 * Ask a child of the caller to end. Not an error if it has ended.
 */
export type SentCancelChild = {
    child: string;
};
/**
 * Keep what recurrent layers remember of the tokens that have KV, if the model has such layers.
 */
export type SentCheckpointContext = {
    context: number | bigint;
};
/**
 * Turn full working pages into committed ones (P7).
 */
export type SentCommitPages = {
    context: number | bigint;
    pages: number | bigint;
};
/**
 * At most so many `tokens` of thought, between `opening` and `closing`; then only `closing` can be written, and
 * `again`, if there is one, where a thought opens once more. `is_open`: the text begins inside a thought.
 */
export type SentThoughtLimit = {
    tokens: number | bigint;
    opening: string;
    closing: string;
    again?: string | undefined;
    is_open?: boolean | undefined;
};
/**
 * The source of a matcher. `text` is a JSON Schema, a regular expression or a grammar; `tools` has `schemas`, and
 * `thought` is any text under a `limit`.
 *
 * `strict` closes objects (G13); `lenient` compiles a schema with parts that cannot be enforced, and lists them;
 * `every_spelling` allows more than one spelling of a schema's values; with `known_formats` a `format` that is not
 * enforced is refused. `separators` stand between items and after keys, and no other blanks are allowed; None allows
 * usual ones. `root` is the rule of a grammar that the text must be, "" for `root` or `start`.
 */
export type SentGrammarSource = {
    kind: "ebnf" | "json" | "json_schema" | "regex" | "thought" | "tools";
    text?: string | undefined;
    strict?: boolean | undefined;
    schemas?: readonly string[] | undefined;
    lenient?: boolean | undefined;
    every_spelling?: boolean | undefined;
    known_formats?: boolean | undefined;
    separators?: [string, string] | null | undefined;
    root?: string | undefined;
    limit?: SentThoughtLimit | null | undefined;
};
/**
 * A fresh matcher; None if the model has no enforceable native tool format (D7). Raises GrammarError.
 *
 * `stop_tokens` are allowed exactly where the grammar may end; empty means the model's own. With `after`, the grammar
 * begins after that text, and any text may precede it.
 */
export type SentCompileGrammar = {
    model: string;
    source: SentGrammarSource;
    stop_tokens?: Ints | undefined;
    behind?: string | undefined;
};
/**
 * Check that there is a server of that name. Raises McpError (-1).
 */
export type SentConnectMcp = {
    server: string;
};
/**
 * How many messages a subscription dropped so far because it was full.
 */
export type SentCountDropped = {
    subscription: number | bigint;
};
/**
 * An adapter that changes nothing until it is loaded (A1). Raises AdapterExistsError.
 */
export type SentCreateAdapter = {
    model: string;
    name: string;
};
/**
 * An empty context.
 */
export type SentCreateContext = {
    model: string;
};
/**
 * Token ids to text, special tokens kept. Raises InvalidArgumentError for an id outside the vocabulary.
 */
export type SentDecode = {
    model: string;
    tokens: Ints;
};
/**
 * Drop a snapshot. Raises SnapshotNotFoundError.
 */
export type SentDeleteSnapshot = {
    model: string;
    name: string;
};
/**
 * The context's pages are the first to go; no hint holds any more.
 */
export type SentDemoteContext = {
    context: number | bigint;
};
/**
 * Every model, the engine's default one first. None is loaded for it.
 */
export type SentDescribeModels = object;
/**
 * Version, instance, user, model names and process.
 */
export type SentDescribeRuntime = object;
/**
 * Free name and weights (A1). Raises AdapterNotFoundError.
 */
export type SentDestroyAdapter = {
    adapter: number | bigint;
};
/**
 * A vector for each text or list of tokens. `pooling`, `normalize` and `prompt` None are those of the model;
 * `prompt_name` names one of its prompts. Vectors are cut to the first `dimensions`, 0 for all of them. Texts that are
 * too long are cut at their end with `truncate`.
 *
 * Tokens are taken as they are, without a prompt and without the tokenizer's own ones around them. Raises
 * InvalidArgumentError for a text without tokens, ContextLengthError.
 */
export type SentEmbed = {
    model: string;
    texts: readonly (string | Ints)[];
    prompt?: string | null | undefined;
    prompt_name?: string | null | undefined;
    pooling?: "max" | "mean" | "cls" | "last" | null | undefined;
    normalize?: boolean | null | undefined;
    dimensions?: number | bigint | undefined;
    truncate?: boolean | undefined;
};
/**
 * Text to token ids; special tokens in the text are recognised. With `begins` the text begins a sequence: the
 * tokens come first that the tokenizer puts before a text, such as BOS, unless the text has them. None are added
 * otherwise.
 */
export type SentEncode = {
    model: string;
    text: string;
    begins?: boolean | undefined;
};
/**
 * The context will be used again in about `seconds`.
 */
export type SentExpectContext = {
    context: number | bigint;
    seconds: number;
};
/**
 * Give up the outcome of this child; the child keeps running.
 */
export type SentForgetChild = {
    child: string;
};
/**
 * An independent copy of weights and evolution state. Raises AdapterExistsError.
 */
export type SentForkAdapter = {
    adapter: number | bigint;
    name: string;
};
/**
 * A copy that shares every committed page (P13).
 */
export type SentForkContext = {
    context: number | bigint;
};
/**
 * An independent copy. The program chooses its number, below 0 and unused, so it need not wait for the reply.
 */
export type SentForkMatcher = {
    matcher: number | bigint;
    number: number | bigint;
};
/**
 * A rule with the `parameters` and the `state` of one row; `code` is its graph in msgpack. `vectors` are parameters
 * as wide as the model's hidden states, little-endian float32.
 */
export type SentRuleUse = {
    code: Uint8Array;
    parameters?: Record<string, number> | ReadonlyMap<number, number> | undefined;
    state?: Record<string, number> | ReadonlyMap<number, number> | undefined;
    vectors?: Record<string, Uint8Array<ArrayBufferLike>> | ReadonlyMap<number, Uint8Array<ArrayBufferLike>> | undefined;
};
/**
 * How a token is drawn. Every filter acts on the unfiltered probabilities and keeps at least one token.
 *
 * `temperature` 0 is argmax, 1e30 the highest. `k` keeps that many most likely tokens, `p` the
 * shortest prefix whose mass reaches it, `min_probability` the tokens at least that many times as likely as the most
 * likely one. 0, 1.0 and 0.0 keep all tokens. `draws` is 1 to 2048. `seed` None draws from the context's own random
 * stream.
 * With `scores` each drawn token comes with its natural log-probability at temperature 1, before penalties and masks,
 * as from `Logprob`. `logit_bias` is added to the logits of the tokens it names. `repetition_penalty` divides the
 * positive logits of all tokens of the text by it and multiplies the others; `frequency_penalty` is taken off for each
 * time that a token was generated, `presence_penalty` once. Generated are the tokens from slot `since` on; None means
 * the Generator's, and all of the text without one. 0, 0, 1 and {} change nothing; none may be larger than 1e6.
 * A `rule` then changes the row, before temperature and filters; one with states draws one token at a time.
 * Raises InvalidTypeError for anything but a number, InvalidArgumentError outside these ranges.
 */
export type SentSampler = {
    read: "sampler";
    temperature?: number | undefined;
    k?: number | bigint | undefined;
    p?: number | undefined;
    min_probability?: number | undefined;
    draws?: number | bigint | undefined;
    seed?: number | bigint | null | undefined;
    scores?: boolean | undefined;
    frequency_penalty?: number | undefined;
    presence_penalty?: number | undefined;
    repetition_penalty?: number | undefined;
    logit_bias?: Record<string, number> | ReadonlyMap<number, number> | undefined;
    since?: number | bigint | null | undefined;
    rule?: SentRuleUse | null | undefined;
};
/**
 * The row itself: vocabulary float32 values before temperature and masks.
 */
export type SentLogits = {
    read: "logits";
};
/**
 * The `k` most likely tokens and their share of the full softmax; `k` 0 is the whole vocabulary.
 */
export type SentDistribution = {
    read: "distribution";
    temperature?: number | undefined;
    k?: number | bigint | undefined;
};
/**
 * The natural log-probability of one token at temperature 1.
 */
export type SentLogprob = {
    read: "logprob";
    token_id: number | bigint;
};
/**
 * The natural log-probabilities of several tokens at temperature 1, in the order given.
 */
export type SentLogprobs = {
    read: "logprobs";
    token_ids: Ints;
};
/**
 * The entropy of the row at temperature 1, in nats.
 */
export type SentEntropy = {
    read: "entropy";
};
/**
 * The input of the output head: the row's final hidden state, after the last norm.
 */
export type SentHiddenState = {
    read: "hidden_state";
};
/**
 * The mean of the final hidden states of a pass's own inputs, from the slot's input to the last. A pass that reads
 * it reads nothing else.
 */
export type SentHiddenMean = {
    read: "hidden_mean";
};
/**
 * How much attention the last `rows` inputs up to the slot's own, at most 64, pay to each page of the context: the
 * sum over the rows, as a mean over the query heads of all attention layers. The pages of a row sum to 1, less what
 * attention sinks take. With `by_group` a score for each KV head of each layer, as a mean over its query heads. A pass
 * has one of them.
 */
export type SentAttentionScores = {
    read: "attention_scores";
    rows?: number | bigint | undefined;
    by_group?: boolean | undefined;
};
/**
 * One reading of a pass at input `index` (0-based in the pass's own input).
 */
export type SentSlot = {
    index: number | bigint;
    read: SentSampler | SentLogits | SentDistribution | SentLogprob | SentLogprobs | SentEntropy | SentHiddenState | SentHiddenMean | SentAttentionScores;
};
/**
 * Guesses at the tokens after a pass's last input, verified in that pass (V2).
 *
 * At most `limit` of them count. `drafts` None lets the engine guess, with the `source` named. `parents` makes a tree
 * of the drafts: each names the draft it follows, -1 the last input; None is a chain. Of what was right, a token
 * of `stop_tokens` and all after it leave KV (V6).
 */
export type SentSpeculation = {
    limit: number | bigint;
    drafts?: Ints | null | undefined;
    parents?: Ints | null | undefined;
    stop_tokens?: Ints | undefined;
    source?: "auto" | "grammar" | "draft_model" | "mtp" | "ngram" | undefined;
};
/**
 * What a text is expected to come to: `expected` tokens in all, None if unknown, with the squared
 * coefficient of `variation` of the rest. `generated` exist already (B6).
 */
export type SentProspect = {
    generated?: number | bigint | undefined;
    expected?: number | bigint | null | undefined;
    variation?: number | undefined;
};
/**
 * The steps after a pass: at most `tokens` further ones, each of which computes what the one before drew, and none
 * after one of `stop_tokens`.
 *
 * Steps that are `asked` for belong to the call: its one sampler answers the tokens of all of them; fewer than
 * possible if something came up, which the next call gets if it still holds. `prospect` renews the automatic bid
 * before each pass that is bid for (B4); None leaves it alone. Of steps that are not asked for the reply may bring
 * tokens, `prefetched` (G14). A program that uses them sends what those steps would have computed with its next pass,
 * as `pending`, and how many it `claimed`. Tokens that are not claimed were never drawn.
 */
export type SentContinuation = {
    tokens?: number | bigint | undefined;
    stop_tokens?: Ints | undefined;
    asked?: boolean | undefined;
    prospect?: SentProspect | null | undefined;
    claimed?: number | bigint | undefined;
};
/**
 * Another context of a pass, whose last row its rule reads: the `tokens` that it computes, at their slot numbers,
 * with its own `adapter` and noise. What the pass draws is computed in all of its contexts.
 */
export type SentOtherContext = {
    context: number | bigint;
    tokens: Ints;
    adapter?: number | bigint | undefined;
    zo_seed?: number | bigint | undefined;
};
/**
 * One pass over a context: a decode step is one of these.
 *
 * `pending` is the drained buffer, computed first; `tokens` are the pass's own input, at `positions` or, when None, at
 * their slot numbers. `attention_masks` has one row per own token over KV slots (F7). `logit_mask` and `matchers`
 * restrict every sampled row (F9, G13); matchers are advanced by the token of `advance_slot` when that is not None.
 * `reserve` and `commit` are P10's automatic page handling. `horizon` (expected remaining tokens, squared coefficient
 * of variation) renews the automatic bid before the pass (B4). With `speculation`, the one sampler of the pass, at the
 * last own input, answers every token that was verified, and matchers are advanced up to the first stop token. With a
 * `continuation` further steps follow.
 * `adapter` and the noise of `zo_seed` are for `tokens`, not for `pending` (F1, F10); 0 is none. The `others` are
 * those whose rows the sampler's rule reads, in its order: all contexts of the pass are one to the engine (L11).
 */
export type SentForward = {
    context: number | bigint;
    tokens?: Ints | undefined;
    pending?: Ints | undefined;
    positions?: Ints | null | undefined;
    attention_masks?: readonly Ints[] | null | undefined;
    slots?: readonly SentSlot[] | undefined;
    logit_mask?: Ints | undefined;
    matchers?: Ints | undefined;
    advance_slot?: number | bigint | null | undefined;
    reserve?: boolean | undefined;
    commit?: boolean | undefined;
    horizon?: [number, number] | null | undefined;
    speculation?: SentSpeculation | null | undefined;
    continuation?: SentContinuation | null | undefined;
    adapter?: number | bigint | undefined;
    zo_seed?: number | bigint | undefined;
    others?: readonly SentOtherContext[] | undefined;
};
/**
 * Fresh weights and evolution state for the projections named by `targets` (Z1). Raises InvalidArgumentError.
 */
export type SentInitializeEvolution = {
    adapter: number | bigint;
    rank: number | bigint;
    alpha: number;
    population_size: number | bigint;
    mu_fraction: number;
    initial_sigma: number;
    targets: readonly (string)[];
};
/**
 * Start a program beside the caller, on the caller's wallet; `input` is JSON text. The reply is the child's id.
 *
 * Raises LaunchError for an unknown program, an input that does not fit, or a limit.
 */
export type SentLaunchChild = {
    program: string;
    input?: string | undefined;
};
/**
 * Give up a ticket. The message that was kept for it goes to the next in line. Unknown tickets are ignored.
 */
export type SentLeaveTopic = {
    topic: string;
    ticket: number | bigint;
};
/**
 * Names of the servers that the caller can use: those of its client and those of the engine.
 */
export type SentListMcpServers = object;
/**
 * One part of an adapter's weights: `data` at `offset` of the `size_bytes` of a safetensors file.
 *
 * Parts arrive in order; offset 0 starts again. The last part puts the weights into use, and its reply is the
 * adapter; the other replies are None. `config` is the text of adapter_config.json. Raises AdapterFormatError and
 * AdapterShapeError.
 */
export type SentLoadAdapter = {
    adapter: number | bigint;
    config: string;
    size_bytes: number | bigint;
    offset: number | bigint;
    data: Uint8Array;
};
/**
 * Bind to a loaded model. `template` has variables for its chat template, the JSON text of an object; "" for none.
 *
 * It is loaded if it is not in memory, and may then leave after `keep_alive_seconds` without use, never if they are
 * negative; None leaves that as it is. Raises ModelNotFoundError, and InvalidArgumentError for variables that the
 * template does not read.
 */
export type SentLoadModel = {
    name: string;
    template?: string | undefined;
    keep_alive_seconds?: number | null | undefined;
};
/**
 * The user's adapter of that name; None if there is none.
 */
export type SentOpenAdapter = {
    model: string;
    name: string;
};
/**
 * Copy a snapshot into a context, or move it there with `take`; None if there is none of that name (N4).
 */
export type SentOpenSnapshot = {
    model: string;
    name: string;
    take?: boolean | undefined;
};
/**
 * The calls in a piece of text in the model's native format; empty when it does not parse (D4).
 *
 * With `schemas`, the JSON texts of the offered tools, calls of other tools are not calls.
 */
export type SentParseToolCall = {
    model: string;
    text: string;
    schemas?: readonly string[] | undefined;
};
/**
 * Bring a suspended context back now if no other one has to go for it; whether it is in the pool then.
 */
export type SentPrefetchContext = {
    context: number | bigint;
};
/**
 * Append a message to the topic's queue; waits while the queue is full.
 */
export type SentPush = {
    topic: string;
    text: string;
};
/**
 * The part at `offset`; offset 0 fixes the weights for the parts that follow.
 */
export type SentReadAdapter = {
    adapter: number | bigint;
    offset?: number | bigint | undefined;
};
/**
 * The request of this process. Raises SessionClosedError if it has none.
 */
export type SentReadHttpRequest = object;
/**
 * Market figures for the caller at a model, that of the `context` or the default one where none is named, with
 * `latency_seconds` of the context, if any.
 */
export type SentReadMarket = {
    context?: number | bigint | null | undefined;
    model?: string | undefined;
};
/**
 * The allowed next tokens; [] if all are allowed.
 */
export type SentReadMatcherMask = {
    matcher: number | bigint;
};
/**
 * The regular expression of the tokenizer's pre-tokenisation, "" if it has none.
 */
export type SentReadSplitRegex = {
    model: string;
};
/**
 * The oldest unread message; None if there is none or the subscription is closed.
 *
 * Raises MessageOverflowError, once, if messages were dropped since the last read.
 */
export type SentReadSubscription = {
    subscription: number | bigint;
};
/**
 * The whole vocabulary, or only its special tokens.
 */
export type SentReadVocabulary = {
    model: string;
    special_only?: boolean | undefined;
};
/**
 * Renew the automatic bid for `remaining_tokens` more tokens with that squared coefficient of variation (B4).
 */
export type SentRebid = {
    context: number | bigint;
    remaining_tokens: number;
    variation: number;
};
/**
 * The next file of the client; None if there is none now.
 */
export type SentReceiveFile = object;
/**
 * The next message of the client; None if there is none now.
 */
export type SentReceiveMessage = object;
/**
 * Give back a context and its pages; unknown ids are ignored, so releasing twice is no error (P15).
 *
 * `claimed` prefetched tokens have been used since its last pass.
 */
export type SentReleaseContext = {
    context: number | bigint;
    claimed?: number | bigint | undefined;
};
/**
 * Forget a matcher.
 */
export type SentReleaseMatcher = {
    matcher: number | bigint;
};
/**
 * Free working pages from the tail (P5).
 */
export type SentReleasePages = {
    context: number | bigint;
    pages: number | bigint;
};
/**
 * A tool call: name and JSON text of the arguments.
 */
export type SentParsedToolCall = {
    name: string;
    arguments: string;
};
/**
 * One step of a conversation.
 *
 * `text` is the content. `name` is the tool that a `tool_result` belongs to, or, for a `seal`, the tool that the reply
 * called, if known. `schemas` are the JSON texts of the `tools`; `calls` are the calls of a past `assistant` turn.
 * `cue` opens the assistant's turn, `seal` ends it, `flush` writes turns that were held for a first user turn.
 */
export type SentTurn = {
    role: "assistant" | "cue" | "flush" | "seal" | "system" | "tool_result" | "tools" | "user";
    text?: string | undefined;
    name?: string | undefined;
    schemas?: readonly string[] | undefined;
    calls?: readonly SentParsedToolCall[] | undefined;
};
/**
 * How far a conversation is written. `last` is the last turn written; None at the start, "flush" for raw tokens.
 *
 * `held` turns wait for the first user turn; `due` is the end of the last turn, if the next turn decides it;
 * `owed` is text that precedes the next turn; `inline`: the tokens so far end with ordinary text. `turns` is
 * the history so far, kept only for templates that need it. `began` is when the conversation began, in ISO 8601, ""
 * where the template tells no date.
 */
export type SentChatState = {
    last?: "assistant" | "cue" | "flush" | "seal" | "system" | "tool_result" | "tools" | "user" | null | undefined;
    held?: readonly SentTurn[] | undefined;
    due?: string | undefined;
    owed?: string | undefined;
    inline?: boolean | undefined;
    turns?: readonly SentTurn[] | undefined;
    began?: string | undefined;
};
/**
 * Render a turn by the model's own template (D1) with the variables of `LoadModel`. Raises TemplateError.
 */
export type SentRenderTurn = {
    model: string;
    turn: SentTurn;
    state?: SentChatState | undefined;
    template?: string | undefined;
};
/**
 * How well each document answers the query. `instruction` tells a model that judges what is looked for. Documents
 * that are too long are cut at their end with `truncate`. Raises InvalidArgumentError, ContextLengthError.
 */
export type SentRerank = {
    model: string;
    query: string;
    documents: readonly (string)[];
    instruction?: string | null | undefined;
    truncate?: boolean | undefined;
};
/**
 * Add working pages (P4).
 */
export type SentReservePages = {
    context: number | bigint;
    pages: number | bigint;
};
/**
 * While the context does nothing, its pages are worth `priority` times what computing them again would cost, for
 * `ttl_seconds`; 0 ends that. The reply is for how many seconds.
 *
 * `prepaid` is paid for now, and holds after the context is released.
 */
export type SentRetainContext = {
    context: number | bigint;
    priority: number;
    ttl_seconds: number;
    prepaid?: boolean | undefined;
};
/**
 * Take back the last `count` tokens; None takes back all of them.
 */
export type SentRollbackMatcher = {
    matcher: number | bigint;
    count?: number | bigint | null | undefined;
};
/**
 * What the SDK holds for a context and has no KV yet: buffered tokens and the state of the conversation.
 *
 * `cued` is the slot after the last cue; `lead` are the tokens of the reply to it that decide what comes next: the
 * header of a message, the end of a thought. `stopped`: a stop token has ended the text, and
 * nothing was buffered since.
 */
export type SentPendingInput = {
    tokens?: Ints | undefined;
    chat?: SentChatState | undefined;
    cued?: number | bigint | null | undefined;
    lead?: Ints | undefined;
    stopped?: boolean | undefined;
};
/**
 * Save under `name`, or under a fresh name if it is empty. The reply is the name (N1-N3).
 *
 * `persist`: also on disk; None is as configured (N7).
 */
export type SentSaveSnapshot = {
    context: number | bigint;
    pending: SentPendingInput;
    name?: string | undefined;
    persist?: boolean | null | undefined;
};
/**
 * A file to the client.
 */
export type SentSendFile = {
    data: Uint8Array;
    name?: string | undefined;
};
/**
 * One message to the client. `format` distinguishes text from JSON text.
 */
export type SentSendMessage = {
    text: string;
    format?: "text" | "json" | undefined;
};
/**
 * Declare a bid in credits per page per tick (B1). The reply is the bid that holds.
 */
export type SentSetBid = {
    context: number | bigint;
    bid: number;
};
/**
 * Open a subscription of the topic. The reply is its number, valid for the caller only.
 */
export type SentSubscribe = {
    topic: string;
};
/**
 * Give all pages back now (R2). Raises ContextBusyError during a pass.
 */
export type SentSuspendContext = {
    context: number | bigint;
};
/**
 * The oldest message of the topic's queue; None if there is none beyond those kept for waiting callers.
 *
 * With a `ticket` that AwaitMessage has answered there is one.
 */
export type SentTakeMessage = {
    topic: string;
    ticket?: number | bigint | undefined;
};
/**
 * Forget working tokens from the tail (P6).
 */
export type SentTruncateTokens = {
    context: number | bigint;
    tokens: number | bigint;
};
/**
 * Close a subscription. Closing twice is no error.
 */
export type SentUnsubscribe = {
    subscription: number | bigint;
};
/**
 * One step of the evolution: the score of each seed, higher is better (Z4). Raises InvalidArgumentError.
 */
export type SentUpdateEvolution = {
    adapter: number | bigint;
    scores: readonly (number)[];
    seeds: Ints;
    max_sigma: number;
};
/**
 * More of the answer's body. The `last` piece completes the answer, and the client need not wait for the process.
 *
 * Waits while the client reads too slowly. Raises SessionClosedError if the client is gone.
 */
export type SentWriteHttpBody = {
    data: Uint8Array;
    last?: boolean | undefined;
};
/**
 * Fields and reply of each call, by its name.
 */
export type Calls = {
    advance_matcher: {
        fields: SentAdvanceMatcher;
        reply: MatcherState;
    };
    await_broadcast: {
        fields: SentAwaitBroadcast;
        reply: boolean;
    };
    await_child: {
        fields: SentAwaitChild;
        reply: ChildOutcome;
    };
    await_incoming: {
        fields: SentAwaitIncoming;
        reply: null;
    };
    await_message: {
        fields: SentAwaitMessage;
        reply: null;
    };
    begin_http_answer: {
        fields: SentBeginHttpAnswer;
        reply: null;
    };
    broadcast: {
        fields: SentBroadcast;
        reply: null;
    };
    call_mcp: {
        fields: SentCallMcp;
        reply: string;
    };
    cancel_child: {
        fields: SentCancelChild;
        reply: null;
    };
    checkpoint_context: {
        fields: SentCheckpointContext;
        reply: null;
    };
    commit_pages: {
        fields: SentCommitPages;
        reply: PageCounters;
    };
    compile_grammar: {
        fields: SentCompileGrammar;
        reply: MatcherState | null;
    };
    connect_mcp: {
        fields: SentConnectMcp;
        reply: null;
    };
    count_dropped: {
        fields: SentCountDropped;
        reply: number;
    };
    create_adapter: {
        fields: SentCreateAdapter;
        reply: AdapterState;
    };
    create_context: {
        fields: SentCreateContext;
        reply: ContextState;
    };
    decode: {
        fields: SentDecode;
        reply: string;
    };
    delete_snapshot: {
        fields: SentDeleteSnapshot;
        reply: null;
    };
    demote_context: {
        fields: SentDemoteContext;
        reply: null;
    };
    describe_models: {
        fields: SentDescribeModels;
        reply: (ModelState)[];
    };
    describe_runtime: {
        fields: SentDescribeRuntime;
        reply: RuntimeInfo;
    };
    destroy_adapter: {
        fields: SentDestroyAdapter;
        reply: null;
    };
    embed: {
        fields: SentEmbed;
        reply: Embeddings;
    };
    encode: {
        fields: SentEncode;
        reply: (number)[];
    };
    expect_context: {
        fields: SentExpectContext;
        reply: null;
    };
    forget_child: {
        fields: SentForgetChild;
        reply: null;
    };
    fork_adapter: {
        fields: SentForkAdapter;
        reply: AdapterState;
    };
    fork_context: {
        fields: SentForkContext;
        reply: ContextState;
    };
    fork_matcher: {
        fields: SentForkMatcher;
        reply: null;
    };
    forward: {
        fields: SentForward;
        reply: ForwardReply;
    };
    initialize_evolution: {
        fields: SentInitializeEvolution;
        reply: AdapterState;
    };
    launch_child: {
        fields: SentLaunchChild;
        reply: string;
    };
    leave_topic: {
        fields: SentLeaveTopic;
        reply: null;
    };
    list_mcp_servers: {
        fields: SentListMcpServers;
        reply: (string)[];
    };
    load_adapter: {
        fields: SentLoadAdapter;
        reply: AdapterState | null;
    };
    load_model: {
        fields: SentLoadModel;
        reply: ModelInfo;
    };
    open_adapter: {
        fields: SentOpenAdapter;
        reply: AdapterState | null;
    };
    open_snapshot: {
        fields: SentOpenSnapshot;
        reply: OpenedSnapshot | null;
    };
    parse_tool_call: {
        fields: SentParseToolCall;
        reply: (ParsedToolCall)[];
    };
    prefetch_context: {
        fields: SentPrefetchContext;
        reply: boolean;
    };
    push: {
        fields: SentPush;
        reply: null;
    };
    read_adapter: {
        fields: SentReadAdapter;
        reply: AdapterPart;
    };
    read_http_request: {
        fields: SentReadHttpRequest;
        reply: HttpRequest;
    };
    read_market: {
        fields: SentReadMarket;
        reply: MarketReading;
    };
    read_matcher_mask: {
        fields: SentReadMatcherMask;
        reply: (number)[];
    };
    read_split_regex: {
        fields: SentReadSplitRegex;
        reply: string;
    };
    read_subscription: {
        fields: SentReadSubscription;
        reply: string | null;
    };
    read_vocabulary: {
        fields: SentReadVocabulary;
        reply: Vocabulary;
    };
    rebid: {
        fields: SentRebid;
        reply: number;
    };
    receive_file: {
        fields: SentReceiveFile;
        reply: Uint8Array | null;
    };
    receive_message: {
        fields: SentReceiveMessage;
        reply: string | null;
    };
    release_context: {
        fields: SentReleaseContext;
        reply: null;
    };
    release_matcher: {
        fields: SentReleaseMatcher;
        reply: null;
    };
    release_pages: {
        fields: SentReleasePages;
        reply: PageCounters;
    };
    render_turn: {
        fields: SentRenderTurn;
        reply: RenderedTurn;
    };
    rerank: {
        fields: SentRerank;
        reply: Relevance;
    };
    reserve_pages: {
        fields: SentReservePages;
        reply: PageCounters;
    };
    retain_context: {
        fields: SentRetainContext;
        reply: number;
    };
    rollback_matcher: {
        fields: SentRollbackMatcher;
        reply: MatcherState;
    };
    save_snapshot: {
        fields: SentSaveSnapshot;
        reply: string;
    };
    send_file: {
        fields: SentSendFile;
        reply: null;
    };
    send_message: {
        fields: SentSendMessage;
        reply: null;
    };
    set_bid: {
        fields: SentSetBid;
        reply: number;
    };
    subscribe: {
        fields: SentSubscribe;
        reply: number;
    };
    suspend_context: {
        fields: SentSuspendContext;
        reply: null;
    };
    take_message: {
        fields: SentTakeMessage;
        reply: string | null;
    };
    truncate_tokens: {
        fields: SentTruncateTokens;
        reply: PageCounters;
    };
    unsubscribe: {
        fields: SentUnsubscribe;
        reply: null;
    };
    update_evolution: {
        fields: SentUpdateEvolution;
        reply: AdapterState;
    };
    write_http_body: {
        fields: SentWriteHttpBody;
        reply: null;
    };
};
