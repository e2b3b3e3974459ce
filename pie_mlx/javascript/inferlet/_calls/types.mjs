// Written by `python -m tools.javascript`. Change the Python code, then run it.

/** Whole numbers as a call takes them. @typedef {readonly number[] | Uint32Array} Ints */

/**
 * A matcher. `complete`: it may end here. `terminated`: it has ended, or nothing may follow (G13).
 *
 * `warnings`: JSON path and reason of the parts that a leniently compiled schema does not enforce.
 * @typedef {object} MatcherState
 * @property {number} matcher
 * @property {boolean} complete
 * @property {boolean} terminated
 * @property {(string)[]} warnings
 */

/**
 * How a child ended. `value` and `format` are its return value, the other fields the exception that ended it.
 *
 * `code` is the code of a PieError and "" for other exceptions.
 * @typedef {object} ChildOutcome
 * @property {'cancelled' | 'failed' | 'returned'} state
 * @property {string} value
 * @property {'json' | 'none' | 'text'} format
 * @property {string} error_type
 * @property {string} code
 * @property {string} message
 */

/**
 * Committed pages, working pages, and all working tokens (P9).
 * @typedef {object} PageCounters
 * @property {number} committed
 * @property {number} working
 * @property {number} working_tokens
 */

/**
 * An adapter. Every change of its weights raises `version` (A4); `size_bytes` is their size in memory.
 * @typedef {object} AdapterState
 * @property {number} adapter
 * @property {string} name
 * @property {number} version
 * @property {number} size_bytes
 */

/**
 * A context that the caller owns.
 * @typedef {object} ContextState
 * @property {number} context
 * @property {PageCounters} counters
 */

/**
 * A model that can be loaded. One in memory has contexts of up to `maximum_positions` tokens, 0 otherwise.
 *
 * `draft_model` guesses for it. `programs` use it now; unused, it leaves in `expires_in_seconds`, and `stays` says why
 * it does not.
 * @typedef {object} ModelState
 * @property {string} name
 * @property {'failed' | 'loaded' | 'loading' | 'unloaded' | 'unloading'} state
 * @property {(string)[]} aliases
 * @property {string} draft_model
 * @property {number} maximum_positions
 * @property {number} programs
 * @property {string} stays
 * @property {number | null} expires_in_seconds
 */

/**
 * Facts of the runtime of this inferlet. Of its `models` those `loaded` are in memory now; those `loading` are on
 * their way there, by name and alias, with the part of their weights that is there, from 0 to 1.
 * @typedef {object} RuntimeInfo
 * @property {string} version
 * @property {string} instance_id
 * @property {string} username
 * @property {(string)[]} models
 * @property {string} process_id
 * @property {(string)[]} loaded
 * @property {Record<string, number> | ReadonlyMap<number, number>} loading
 */

/**
 * Vectors one after the other, float32 in little-endian bytes, each of `dimensions` values; and the tokens of each
 * text.
 * @typedef {object} Embeddings
 * @property {Uint8Array} vectors
 * @property {number} dimensions
 * @property {(number)[]} tokens
 */

/**
 * One token per draw, and for a sampler with `scores` the log-probability of each. `states` are those that each
 * draw leaves for the next one, in the order of the rule's graph; `ended` tells whether the rule ended the text.
 * @typedef {object} SampledTokens
 * @property {'sampled_tokens'} result
 * @property {(number)[]} tokens
 * @property {(number)[]} logprobs
 * @property {((number)[])[]} states
 * @property {boolean} ended
 */

/**
 * Vocabulary × 4 bytes, native-endian float32.
 * @typedef {object} RawLogits
 * @property {'raw_logits'} result
 * @property {Uint8Array} data
 */

/**
 * Token ids and probabilities, falling.
 * @typedef {object} Probabilities
 * @property {'probabilities'} result
 * @property {(number)[]} token_ids
 * @property {(number)[]} probabilities
 */

/**
 * Log-probabilities in request order.
 * @typedef {object} LogprobValues
 * @property {'logprob_values'} result
 * @property {(number)[]} values
 */

/**
 * Entropy in nats.
 * @typedef {object} EntropyValue
 * @property {'entropy_value'} result
 * @property {number} nats
 */

/**
 * The state's float32 values, as many as the model is wide.
 * @typedef {object} HiddenStateValues
 * @property {'hidden_state_values'} result
 * @property {(number)[]} values
 */

/**
 * Page scores of `groups` head groups, layer by layer, or of one that stands for all: `groups` × pages × 4 bytes,
 * native-endian float32.
 * @typedef {object} AttentionScoreValues
 * @property {'attention_score_values'} result
 * @property {number} groups
 * @property {Uint8Array} data
 */

/**
 * Why the page from token `position` of the context on was not cached, although the ones before it were.
 *
 * `new`: no cached page of this user goes on there. `differs`: one does, and reads `cached_text` where this prompt
 * reads `text`, from `position` on. `adapter`, `mask` and `positions`: a cached page has the same tokens, computed
 * with another adapter, mask or positions. `evicted`: the page made room at `evicted_at` (Unix seconds) for
 * `evicted_for`, which is empty if that is not known, or not for this user to know. `state`: the pages are there, but
 * not what recurrent layers remember after them.
 * @typedef {object} Miss
 * @property {'adapter' | 'differs' | 'evicted' | 'mask' | 'new' | 'positions' | 'state'} reason
 * @property {number} position
 * @property {string} text
 * @property {string} cached_text
 * @property {number} evicted_at
 * @property {string} evicted_for
 */

/**
 * The tokens of prompts by how they came to have KV: attached `from_memory` or `from_disk`, `replayed` by recurrent
 * layers over attached pages, or `computed`. `from_disk` also counts what was read to bring a context back that had
 * left the pool, or was opened. `miss` is about the first page that was not attached, None if all were.
 * @typedef {object} Reuse
 * @property {number} from_memory
 * @property {number} from_disk
 * @property {number} replayed
 * @property {number} computed
 * @property {Miss | null} miss
 */

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
 * @typedef {object} ForwardReply
 * @property {(SampledTokens | RawLogits | Probabilities | LogprobValues | EntropyValue | HiddenStateValues | AttentionScoreValues)[]} results
 * @property {PageCounters} counters
 * @property {boolean} grammar_terminated
 * @property {number} attached
 * @property {number} drafted
 * @property {number} kept
 * @property {(number)[]} prefetched
 * @property {number} replayed
 * @property {Reuse | null} reuse
 * @property {number} forced
 * @property {(PageCounters)[]} others
 * @property {number} accepted
 * @property {string} drafted_by
 */

/**
 * How a model marks its reasoning. `opened_by_cue`: the cue itself opens the block, so text starts inside it.
 * @typedef {object} ReasoningFormat
 * @property {string} opening
 * @property {string} closing
 * @property {boolean} opened_by_cue
 */

/**
 * How a model marks tool calls: text between one of `openings` and `closing` (empty: to the end of the turn).
 *
 * `style` names the family. A whole reply that begins with the character `bare` may be a call too (Llama).
 * @typedef {object} ToolFormat
 * @property {string} style
 * @property {(string)[]} openings
 * @property {string} closing
 * @property {string} bare
 */

/**
 * The formats of a model that a decoder must know.
 *
 * `control_tokens` are never part of visible text. `channels`: replies are split by header tokens (gpt-oss).
 * `answer_opening`: the end of what stands between the cue and the text of a reply, if anything: the closing
 * of the reasoning that the cue has opened, or the header of the channel for answers.
 * `strips_first_space`: the tokenizer writes a space before a text's first word that does not belong to the text.
 * @typedef {object} Formats
 * @property {(number)[]} stop_tokens
 * @property {(number)[]} control_tokens
 * @property {ReasoningFormat | null} reasoning
 * @property {ToolFormat | null} tools
 * @property {boolean} channels
 * @property {string} answer_opening
 * @property {boolean} strips_first_space
 */

/**
 * How a model makes vectors of `dimensions` values: of its final hidden states it takes the mean, the `last` one,
 * the first one (`cls`) or the largest values (`max`), of length 1 where it `normalizes`.
 *
 * A text has at most `maximum_tokens`, those included that the tokenizer puts around it. `prompts` by name are texts
 * to put before others, `default_prompt` where none is named. To rerank, a cross-encoder `scores` query and document
 * together, a decoder trained for it `judges` them, and any other model `compares` their vectors.
 * @typedef {object} EmbeddingFormat
 * @property {'cls' | 'last' | 'max' | 'mean'} pooling
 * @property {boolean} normalizes
 * @property {number} dimensions
 * @property {number} maximum_tokens
 * @property {Record<string, string> | ReadonlyMap<number, string>} prompts
 * @property {string} default_prompt
 * @property {'compares' | 'judges' | 'scores'} reranking
 */

/**
 * A loaded model. `maximum_positions` bounds positions (F4); `vocabulary_size` is the width of a logits row,
 * `hidden_size` that of a hidden state, 0 if none can be read. Its chat template reads the variables
 * `template_variables`; without a chat template of its own it is given ChatML. Its attention layers have
 * `attention_groups` KV heads together, 0 if their scores cannot be read. An encoder makes vectors, and `generates` no
 * text.
 * @typedef {object} ModelInfo
 * @property {string} name
 * @property {number} vocabulary_size
 * @property {number} page_size
 * @property {number} maximum_positions
 * @property {Formats} formats
 * @property {number} hidden_size
 * @property {(string)[]} template_variables
 * @property {boolean} has_chat_template
 * @property {number} attention_groups
 * @property {boolean} generates
 * @property {EmbeddingFormat | null} embedding
 */

/**
 * A tool call: name and JSON text of the arguments.
 * @typedef {object} ParsedToolCall
 * @property {string} name
 * @property {string} arguments
 */

/**
 * One step of a conversation.
 *
 * `text` is the content. `name` is the tool that a `tool_result` belongs to, or, for a `seal`, the tool that the reply
 * called, if known. `schemas` are the JSON texts of the `tools`; `calls` are the calls of a past `assistant` turn.
 * `cue` opens the assistant's turn, `seal` ends it, `flush` writes turns that were held for a first user turn.
 * @typedef {object} Turn
 * @property {'assistant' | 'cue' | 'flush' | 'seal' | 'system' | 'tool_result' | 'tools' | 'user'} role
 * @property {string} text
 * @property {string} name
 * @property {(string)[]} schemas
 * @property {(ParsedToolCall)[]} calls
 */

/**
 * How far a conversation is written. `last` is the last turn written; None at the start, "flush" for raw tokens.
 *
 * `held` turns wait for the first user turn; `due` is the end of the last turn, if the next turn decides it;
 * `owed` is text that precedes the next turn; `inline`: the tokens so far end with ordinary text. `turns` is
 * the history so far, kept only for templates that need it. `began` is when the conversation began, in ISO 8601, ""
 * where the template tells no date.
 * @typedef {object} ChatState
 * @property {'assistant' | 'cue' | 'flush' | 'seal' | 'system' | 'tool_result' | 'tools' | 'user' | null} last
 * @property {(Turn)[]} held
 * @property {string} due
 * @property {string} owed
 * @property {boolean} inline
 * @property {(Turn)[]} turns
 * @property {string} began
 */

/**
 * What the SDK holds for a context and has no KV yet: buffered tokens and the state of the conversation.
 *
 * `cued` is the slot after the last cue; `lead` are the tokens of the reply to it that decide what comes next: the
 * header of a message, the end of a thought. `stopped`: a stop token has ended the text, and
 * nothing was buffered since.
 * @typedef {object} PendingInput
 * @property {(number)[]} tokens
 * @property {ChatState} chat
 * @property {number | null} cued
 * @property {(number)[]} lead
 * @property {boolean} stopped
 */

/**
 * A context made from a snapshot, and its pending input at the time of saving.
 * @typedef {object} OpenedSnapshot
 * @property {ContextState} state
 * @property {PendingInput} pending
 */

/**
 * A part of a saved adapter: its adapter_config.json, and bytes of its safetensors file of `size_bytes`.
 * @typedef {object} AdapterPart
 * @property {string} config
 * @property {number} size_bytes
 * @property {Uint8Array} data
 */

/**
 * `query` is the raw text after the question mark; header names are in lower case, in the order of arrival.
 * @typedef {object} HttpRequest
 * @property {string} method
 * @property {string} path
 * @property {string} query
 * @property {([string, string])[]} headers
 * @property {Uint8Array} body
 */

/**
 * The latest settlement (M14): credits, credits per page per tick, credits per tick, seconds per tick.
 * @typedef {object} MarketReading
 * @property {number} balance
 * @property {number} rent
 * @property {number} dividend
 * @property {number} latency_seconds
 * @property {number} page_price
 */

/**
 * Token ids and their bytes, as parallel lists.
 * @typedef {object} Vocabulary
 * @property {(number)[]} token_ids
 * @property {(Uint8Array)[]} tokens
 */

/**
 * Tokens of a turn and the state after it.
 * @typedef {object} RenderedTurn
 * @property {(number)[]} tokens
 * @property {ChatState} state
 */

/**
 * The score of each document, higher is better, and the tokens that were read for it.
 * @typedef {object} Relevance
 * @property {(number)[]} scores
 * @property {(number)[]} tokens
 */

/**
 * Feed tokens. Raises GrammarRejectedError and changes nothing if one of them is forbidden.
 * @typedef {object} SentAdvanceMatcher
 * @property {number | bigint} matcher
 * @property {Ints} tokens
 */

/**
 * Wait until there is a message to read; False means that the subscription is closed.
 * @typedef {object} SentAwaitBroadcast
 * @property {number | bigint} subscription
 */

/**
 * Wait for the end of a child of the caller.
 * @typedef {object} SentAwaitChild
 * @property {string} child
 */

/**
 * Wait until the client has sent something. Taking it is another call, so that a cancelled wait loses nothing.
 *
 * Raises SessionClosedError if there is no client to wait for.
 * @typedef {object} SentAwaitIncoming
 * @property {'file' | 'message'} what
 */

/**
 * Wait, in line, until a message of the topic's queue is kept for this `ticket`, a number the caller chose.
 * @typedef {object} SentAwaitMessage
 * @property {string} topic
 * @property {number | bigint} ticket
 */

/**
 * Status and headers of the answer; once. Raises InvalidArgumentError for invalid ones, or the second time.
 * @typedef {object} SentBeginHttpAnswer
 * @property {number | bigint} status
 * @property {readonly ([string, string])[]} [headers]
 */

/**
 * Give a message to every subscription of the topic that is open now (I4).
 * @typedef {object} SentBroadcast
 * @property {string} topic
 * @property {string} text
 */

/**
 * One JSON-RPC request to a server; `params` and the reply, the `result` of the response, are JSON text.
 *
 * Raises McpError: the server's error, -1 for an unknown server, -32602 for params that are no JSON object,
 * -32000 without an answer.
 * @typedef {object} SentCallMcp
 * @property {string} server
 * @property {string} method
 * @property {string} [params]
 */

/**
 * Ask a child of the caller to end. Not an error if it has ended.
 * @typedef {object} SentCancelChild
 * @property {string} child
 */

/**
 * Keep what recurrent layers remember of the tokens that have KV, if the model has such layers.
 * @typedef {object} SentCheckpointContext
 * @property {number | bigint} context
 */

/**
 * Turn full working pages into committed ones (P7).
 * @typedef {object} SentCommitPages
 * @property {number | bigint} context
 * @property {number | bigint} pages
 */

/**
 * At most so many `tokens` of thought, between `opening` and `closing`; then only `closing` can be written, and
 * `again`, if there is one, where a thought opens once more. `is_open`: the text begins inside a thought.
 * @typedef {object} SentThoughtLimit
 * @property {number | bigint} tokens
 * @property {string} opening
 * @property {string} closing
 * @property {string} [again]
 * @property {boolean} [is_open]
 */

/**
 * The source of a matcher. `text` is a JSON Schema, a regular expression or a grammar; `tools` has `schemas`, and
 * `thought` is any text under a `limit`.
 *
 * `strict` closes objects (G13); `lenient` compiles a schema with parts that cannot be enforced, and lists them;
 * `every_spelling` allows more than one spelling of a schema's values; with `known_formats` a `format` that is not
 * enforced is refused. `separators` stand between items and after keys, and no other blanks are allowed; None allows
 * usual ones. `root` is the rule of a grammar that the text must be, "" for `root` or `start`.
 * @typedef {object} SentGrammarSource
 * @property {'ebnf' | 'json' | 'json_schema' | 'regex' | 'thought' | 'tools'} kind
 * @property {string} [text]
 * @property {boolean} [strict]
 * @property {readonly (string)[]} [schemas]
 * @property {boolean} [lenient]
 * @property {boolean} [every_spelling]
 * @property {boolean} [known_formats]
 * @property {[string, string] | null} [separators]
 * @property {string} [root]
 * @property {SentThoughtLimit | null} [limit]
 */

/**
 * A fresh matcher; None if the model has no enforceable native tool format (D7). Raises GrammarError.
 *
 * `stop_tokens` are allowed exactly where the grammar may end; empty means the model's own. With `after`, the grammar
 * begins after that text, and any text may precede it.
 * @typedef {object} SentCompileGrammar
 * @property {string} model
 * @property {SentGrammarSource} source
 * @property {Ints} [stop_tokens]
 * @property {string} [behind]
 */

/**
 * Check that there is a server of that name. Raises McpError (-1).
 * @typedef {object} SentConnectMcp
 * @property {string} server
 */

/**
 * How many messages a subscription dropped so far because it was full.
 * @typedef {object} SentCountDropped
 * @property {number | bigint} subscription
 */

/**
 * An adapter that changes nothing until it is loaded (A1). Raises AdapterExistsError.
 * @typedef {object} SentCreateAdapter
 * @property {string} model
 * @property {string} name
 */

/**
 * An empty context.
 * @typedef {object} SentCreateContext
 * @property {string} model
 */

/**
 * Token ids to text, special tokens kept. Raises InvalidArgumentError for an id outside the vocabulary.
 * @typedef {object} SentDecode
 * @property {string} model
 * @property {Ints} tokens
 */

/**
 * Drop a snapshot. Raises SnapshotNotFoundError.
 * @typedef {object} SentDeleteSnapshot
 * @property {string} model
 * @property {string} name
 */

/**
 * The context's pages are the first to go; no hint holds any more.
 * @typedef {object} SentDemoteContext
 * @property {number | bigint} context
 */

/**
 * Every model, the engine's default one first. None is loaded for it.
 * @typedef {object} SentDescribeModels
 */

/**
 * Version, instance, user, model names and process.
 * @typedef {object} SentDescribeRuntime
 */

/**
 * Free name and weights (A1). Raises AdapterNotFoundError.
 * @typedef {object} SentDestroyAdapter
 * @property {number | bigint} adapter
 */

/**
 * A vector for each text or list of tokens. `pooling`, `normalize` and `prompt` None are those of the model;
 * `prompt_name` names one of its prompts. Vectors are cut to the first `dimensions`, 0 for all of them. Texts that are
 * too long are cut at their end with `truncate`.
 *
 * Tokens are taken as they are, without a prompt and without the tokenizer's own ones around them. Raises
 * InvalidArgumentError for a text without tokens, ContextLengthError.
 * @typedef {object} SentEmbed
 * @property {string} model
 * @property {readonly (string | Ints)[]} texts
 * @property {string | null} [prompt]
 * @property {string | null} [prompt_name]
 * @property {'cls' | 'last' | 'max' | 'mean' | null} [pooling]
 * @property {boolean | null} [normalize]
 * @property {number | bigint} [dimensions]
 * @property {boolean} [truncate]
 */

/**
 * Text to token ids; special tokens in the text are recognised. With `begins` the text begins a sequence: the
 * tokens come first that the tokenizer puts before a text, such as BOS, unless the text has them. None are added
 * otherwise.
 * @typedef {object} SentEncode
 * @property {string} model
 * @property {string} text
 * @property {boolean} [begins]
 */

/**
 * The context will be used again in about `seconds`.
 * @typedef {object} SentExpectContext
 * @property {number | bigint} context
 * @property {number} seconds
 */

/**
 * Give up the outcome of this child; the child keeps running.
 * @typedef {object} SentForgetChild
 * @property {string} child
 */

/**
 * An independent copy of weights and evolution state. Raises AdapterExistsError.
 * @typedef {object} SentForkAdapter
 * @property {number | bigint} adapter
 * @property {string} name
 */

/**
 * A copy that shares every committed page (P13).
 * @typedef {object} SentForkContext
 * @property {number | bigint} context
 */

/**
 * An independent copy. The program chooses its number, below 0 and unused, so it need not wait for the reply.
 * @typedef {object} SentForkMatcher
 * @property {number | bigint} matcher
 * @property {number | bigint} number
 */

/**
 * A rule with the `parameters` and the `state` of one row; `code` is its graph in msgpack. `vectors` are parameters
 * as wide as the model's hidden states, little-endian float32.
 * @typedef {object} SentRuleUse
 * @property {Uint8Array} code
 * @property {Record<string, number> | ReadonlyMap<number, number>} [parameters]
 * @property {Record<string, number> | ReadonlyMap<number, number>} [state]
 * @property {Record<string, Uint8Array> | ReadonlyMap<number, Uint8Array>} [vectors]
 */

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
 * @typedef {object} SentSampler
 * @property {'sampler'} read
 * @property {number} [temperature]
 * @property {number | bigint} [k]
 * @property {number} [p]
 * @property {number} [min_probability]
 * @property {number | bigint} [draws]
 * @property {number | bigint | null} [seed]
 * @property {boolean} [scores]
 * @property {number} [frequency_penalty]
 * @property {number} [presence_penalty]
 * @property {number} [repetition_penalty]
 * @property {Record<string, number> | ReadonlyMap<number, number>} [logit_bias]
 * @property {number | bigint | null} [since]
 * @property {SentRuleUse | null} [rule]
 */

/**
 * The row itself: vocabulary float32 values before temperature and masks.
 * @typedef {object} SentLogits
 * @property {'logits'} read
 */

/**
 * The `k` most likely tokens and their share of the full softmax; `k` 0 is the whole vocabulary.
 * @typedef {object} SentDistribution
 * @property {'distribution'} read
 * @property {number} [temperature]
 * @property {number | bigint} [k]
 */

/**
 * The natural log-probability of one token at temperature 1.
 * @typedef {object} SentLogprob
 * @property {'logprob'} read
 * @property {number | bigint} token_id
 */

/**
 * The natural log-probabilities of several tokens at temperature 1, in the order given.
 * @typedef {object} SentLogprobs
 * @property {'logprobs'} read
 * @property {Ints} token_ids
 */

/**
 * The entropy of the row at temperature 1, in nats.
 * @typedef {object} SentEntropy
 * @property {'entropy'} read
 */

/**
 * The input of the output head: the row's final hidden state, after the last norm.
 * @typedef {object} SentHiddenState
 * @property {'hidden_state'} read
 */

/**
 * The mean of the final hidden states of a pass's own inputs, from the slot's input to the last. A pass that reads
 * it reads nothing else.
 * @typedef {object} SentHiddenMean
 * @property {'hidden_mean'} read
 */

/**
 * How much attention the last `rows` inputs up to the slot's own, at most 64, pay to each page of the context: the
 * sum over the rows, as a mean over the query heads of all attention layers. The pages of a row sum to 1, less what
 * attention sinks take. With `by_group` a score for each KV head of each layer, as a mean over its query heads. A pass
 * has one of them.
 * @typedef {object} SentAttentionScores
 * @property {'attention_scores'} read
 * @property {number | bigint} [rows]
 * @property {boolean} [by_group]
 */

/**
 * One reading of a pass at input `index` (0-based in the pass's own input).
 * @typedef {object} SentSlot
 * @property {number | bigint} index
 * @property {SentSampler | SentLogits | SentDistribution | SentLogprob | SentLogprobs | SentEntropy | SentHiddenState | SentHiddenMean | SentAttentionScores} read
 */

/**
 * Guesses at the tokens after a pass's last input, verified in that pass (V2).
 *
 * At most `limit` of them count. `drafts` None lets the engine guess, with the `source` named. `parents` makes a tree
 * of the drafts: each names the draft it follows, -1 the last input; None is a chain. Of what was right, a token
 * of `stop_tokens` and all after it leave KV (V6).
 * @typedef {object} SentSpeculation
 * @property {number | bigint} limit
 * @property {Ints | null} [drafts]
 * @property {Ints | null} [parents]
 * @property {Ints} [stop_tokens]
 * @property {'auto' | 'draft_model' | 'grammar' | 'mtp' | 'ngram'} [source]
 */

/**
 * What a text is expected to come to: `expected` tokens in all, None if unknown, with the squared
 * coefficient of `variation` of the rest. `generated` exist already (B6).
 * @typedef {object} SentProspect
 * @property {number | bigint} [generated]
 * @property {number | bigint | null} [expected]
 * @property {number} [variation]
 */

/**
 * The steps after a pass: at most `tokens` further ones, each of which computes what the one before drew, and none
 * after one of `stop_tokens`.
 *
 * Steps that are `asked` for belong to the call: its one sampler answers the tokens of all of them; fewer than
 * possible if something came up, which the next call gets if it still holds. `prospect` renews the automatic bid
 * before each pass that is bid for (B4); None leaves it alone. Of steps that are not asked for the reply may bring
 * tokens, `prefetched` (G14). A program that uses them sends what those steps would have computed with its next pass,
 * as `pending`, and how many it `claimed`. Tokens that are not claimed were never drawn.
 * @typedef {object} SentContinuation
 * @property {number | bigint} [tokens]
 * @property {Ints} [stop_tokens]
 * @property {boolean} [asked]
 * @property {SentProspect | null} [prospect]
 * @property {number | bigint} [claimed]
 */

/**
 * Another context of a pass, whose last row its rule reads: the `tokens` that it computes, at their slot numbers,
 * with its own `adapter` and noise. What the pass draws is computed in all of its contexts.
 * @typedef {object} SentOtherContext
 * @property {number | bigint} context
 * @property {Ints} tokens
 * @property {number | bigint} [adapter]
 * @property {number | bigint} [zo_seed]
 */

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
 * @typedef {object} SentForward
 * @property {number | bigint} context
 * @property {Ints} [tokens]
 * @property {Ints} [pending]
 * @property {Ints | null} [positions]
 * @property {readonly (Ints)[] | null} [attention_masks]
 * @property {readonly (SentSlot)[]} [slots]
 * @property {Ints} [logit_mask]
 * @property {Ints} [matchers]
 * @property {number | bigint | null} [advance_slot]
 * @property {boolean} [reserve]
 * @property {boolean} [commit]
 * @property {[number, number] | null} [horizon]
 * @property {SentSpeculation | null} [speculation]
 * @property {SentContinuation | null} [continuation]
 * @property {number | bigint} [adapter]
 * @property {number | bigint} [zo_seed]
 * @property {readonly (SentOtherContext)[]} [others]
 */

/**
 * Fresh weights and evolution state for the projections named by `targets` (Z1). Raises InvalidArgumentError.
 * @typedef {object} SentInitializeEvolution
 * @property {number | bigint} adapter
 * @property {number | bigint} rank
 * @property {number} alpha
 * @property {number | bigint} population_size
 * @property {number} mu_fraction
 * @property {number} initial_sigma
 * @property {readonly (string)[]} targets
 */

/**
 * Start a program beside the caller, on the caller's wallet; `input` is JSON text. The reply is the child's id.
 *
 * Raises LaunchError for an unknown program, an input that does not fit, or a limit.
 * @typedef {object} SentLaunchChild
 * @property {string} program
 * @property {string} [input]
 */

/**
 * Give up a ticket. The message that was kept for it goes to the next in line. Unknown tickets are ignored.
 * @typedef {object} SentLeaveTopic
 * @property {string} topic
 * @property {number | bigint} ticket
 */

/**
 * Names of the servers that the caller can use: those of its client and those of the engine.
 * @typedef {object} SentListMcpServers
 */

/**
 * One part of an adapter's weights: `data` at `offset` of the `size_bytes` of a safetensors file.
 *
 * Parts arrive in order; offset 0 starts again. The last part puts the weights into use, and its reply is the
 * adapter; the other replies are None. `config` is the text of adapter_config.json. Raises AdapterFormatError and
 * AdapterShapeError.
 * @typedef {object} SentLoadAdapter
 * @property {number | bigint} adapter
 * @property {string} config
 * @property {number | bigint} size_bytes
 * @property {number | bigint} offset
 * @property {Uint8Array} data
 */

/**
 * Bind to a loaded model. `template` has variables for its chat template, the JSON text of an object; "" for none.
 *
 * It is loaded if it is not in memory, and may then leave after `keep_alive_seconds` without use, never if they are
 * negative; None leaves that as it is. Raises ModelNotFoundError, and InvalidArgumentError for variables that the
 * template does not read.
 * @typedef {object} SentLoadModel
 * @property {string} name
 * @property {string} [template]
 * @property {number | null} [keep_alive_seconds]
 */

/**
 * The user's adapter of that name; None if there is none.
 * @typedef {object} SentOpenAdapter
 * @property {string} model
 * @property {string} name
 */

/**
 * Copy a snapshot into a context, or move it there with `take`; None if there is none of that name (N4).
 * @typedef {object} SentOpenSnapshot
 * @property {string} model
 * @property {string} name
 * @property {boolean} [take]
 */

/**
 * The calls in a piece of text in the model's native format; empty when it does not parse (D4).
 *
 * With `schemas`, the JSON texts of the offered tools, calls of other tools are not calls.
 * @typedef {object} SentParseToolCall
 * @property {string} model
 * @property {string} text
 * @property {readonly (string)[]} [schemas]
 */

/**
 * Bring a suspended context back now if no other one has to go for it; whether it is in the pool then.
 * @typedef {object} SentPrefetchContext
 * @property {number | bigint} context
 */

/**
 * Append a message to the topic's queue; waits while the queue is full.
 * @typedef {object} SentPush
 * @property {string} topic
 * @property {string} text
 */

/**
 * The part at `offset`; offset 0 fixes the weights for the parts that follow.
 * @typedef {object} SentReadAdapter
 * @property {number | bigint} adapter
 * @property {number | bigint} [offset]
 */

/**
 * The request of this process. Raises SessionClosedError if it has none.
 * @typedef {object} SentReadHttpRequest
 */

/**
 * Market figures for the caller at a model, that of the `context` or the default one where none is named, with
 * `latency_seconds` of the context, if any.
 * @typedef {object} SentReadMarket
 * @property {number | bigint | null} [context]
 * @property {string} [model]
 */

/**
 * The allowed next tokens; [] if all are allowed.
 * @typedef {object} SentReadMatcherMask
 * @property {number | bigint} matcher
 */

/**
 * The regular expression of the tokenizer's pre-tokenisation, "" if it has none.
 * @typedef {object} SentReadSplitRegex
 * @property {string} model
 */

/**
 * The oldest unread message; None if there is none or the subscription is closed.
 *
 * Raises MessageOverflowError, once, if messages were dropped since the last read.
 * @typedef {object} SentReadSubscription
 * @property {number | bigint} subscription
 */

/**
 * The whole vocabulary, or only its special tokens.
 * @typedef {object} SentReadVocabulary
 * @property {string} model
 * @property {boolean} [special_only]
 */

/**
 * Renew the automatic bid for `remaining_tokens` more tokens with that squared coefficient of variation (B4).
 * @typedef {object} SentRebid
 * @property {number | bigint} context
 * @property {number} remaining_tokens
 * @property {number} variation
 */

/**
 * The next file of the client; None if there is none now.
 * @typedef {object} SentReceiveFile
 */

/**
 * The next message of the client; None if there is none now.
 * @typedef {object} SentReceiveMessage
 */

/**
 * Give back a context and its pages; unknown ids are ignored, so releasing twice is no error (P15).
 *
 * `claimed` prefetched tokens have been used since its last pass.
 * @typedef {object} SentReleaseContext
 * @property {number | bigint} context
 * @property {number | bigint} [claimed]
 */

/**
 * Forget a matcher.
 * @typedef {object} SentReleaseMatcher
 * @property {number | bigint} matcher
 */

/**
 * Free working pages from the tail (P5).
 * @typedef {object} SentReleasePages
 * @property {number | bigint} context
 * @property {number | bigint} pages
 */

/**
 * A tool call: name and JSON text of the arguments.
 * @typedef {object} SentParsedToolCall
 * @property {string} name
 * @property {string} arguments
 */

/**
 * One step of a conversation.
 *
 * `text` is the content. `name` is the tool that a `tool_result` belongs to, or, for a `seal`, the tool that the reply
 * called, if known. `schemas` are the JSON texts of the `tools`; `calls` are the calls of a past `assistant` turn.
 * `cue` opens the assistant's turn, `seal` ends it, `flush` writes turns that were held for a first user turn.
 * @typedef {object} SentTurn
 * @property {'assistant' | 'cue' | 'flush' | 'seal' | 'system' | 'tool_result' | 'tools' | 'user'} role
 * @property {string} [text]
 * @property {string} [name]
 * @property {readonly (string)[]} [schemas]
 * @property {readonly (SentParsedToolCall)[]} [calls]
 */

/**
 * How far a conversation is written. `last` is the last turn written; None at the start, "flush" for raw tokens.
 *
 * `held` turns wait for the first user turn; `due` is the end of the last turn, if the next turn decides it;
 * `owed` is text that precedes the next turn; `inline`: the tokens so far end with ordinary text. `turns` is
 * the history so far, kept only for templates that need it. `began` is when the conversation began, in ISO 8601, ""
 * where the template tells no date.
 * @typedef {object} SentChatState
 * @property {'assistant' | 'cue' | 'flush' | 'seal' | 'system' | 'tool_result' | 'tools' | 'user' | null} [last]
 * @property {readonly (SentTurn)[]} [held]
 * @property {string} [due]
 * @property {string} [owed]
 * @property {boolean} [inline]
 * @property {readonly (SentTurn)[]} [turns]
 * @property {string} [began]
 */

/**
 * Render a turn by the model's own template (D1) with the variables of `LoadModel`. Raises TemplateError.
 * @typedef {object} SentRenderTurn
 * @property {string} model
 * @property {SentTurn} turn
 * @property {SentChatState} [state]
 * @property {string} [template]
 */

/**
 * How well each document answers the query. `instruction` tells a model that judges what is looked for. Documents
 * that are too long are cut at their end with `truncate`. Raises InvalidArgumentError, ContextLengthError.
 * @typedef {object} SentRerank
 * @property {string} model
 * @property {string} query
 * @property {readonly (string)[]} documents
 * @property {string | null} [instruction]
 * @property {boolean} [truncate]
 */

/**
 * Add working pages (P4).
 * @typedef {object} SentReservePages
 * @property {number | bigint} context
 * @property {number | bigint} pages
 */

/**
 * While the context does nothing, its pages are worth `priority` times what computing them again would cost, for
 * `ttl_seconds`; 0 ends that. The reply is for how many seconds.
 *
 * `prepaid` is paid for now, and holds after the context is released.
 * @typedef {object} SentRetainContext
 * @property {number | bigint} context
 * @property {number} priority
 * @property {number} ttl_seconds
 * @property {boolean} [prepaid]
 */

/**
 * Take back the last `count` tokens; None takes back all of them.
 * @typedef {object} SentRollbackMatcher
 * @property {number | bigint} matcher
 * @property {number | bigint | null} [count]
 */

/**
 * What the SDK holds for a context and has no KV yet: buffered tokens and the state of the conversation.
 *
 * `cued` is the slot after the last cue; `lead` are the tokens of the reply to it that decide what comes next: the
 * header of a message, the end of a thought. `stopped`: a stop token has ended the text, and
 * nothing was buffered since.
 * @typedef {object} SentPendingInput
 * @property {Ints} [tokens]
 * @property {SentChatState} [chat]
 * @property {number | bigint | null} [cued]
 * @property {Ints} [lead]
 * @property {boolean} [stopped]
 */

/**
 * Save under `name`, or under a fresh name if it is empty. The reply is the name (N1-N3).
 *
 * `persist`: also on disk; None is as configured (N7).
 * @typedef {object} SentSaveSnapshot
 * @property {number | bigint} context
 * @property {SentPendingInput} pending
 * @property {string} [name]
 * @property {boolean | null} [persist]
 */

/**
 * A file to the client.
 * @typedef {object} SentSendFile
 * @property {Uint8Array} data
 * @property {string} [name]
 */

/**
 * One message to the client. `format` distinguishes text from JSON text.
 * @typedef {object} SentSendMessage
 * @property {string} text
 * @property {'json' | 'text'} [format]
 */

/**
 * Declare a bid in credits per page per tick (B1). The reply is the bid that holds.
 * @typedef {object} SentSetBid
 * @property {number | bigint} context
 * @property {number} bid
 */

/**
 * Open a subscription of the topic. The reply is its number, valid for the caller only.
 * @typedef {object} SentSubscribe
 * @property {string} topic
 */

/**
 * Give all pages back now (R2). Raises ContextBusyError during a pass.
 * @typedef {object} SentSuspendContext
 * @property {number | bigint} context
 */

/**
 * The oldest message of the topic's queue; None if there is none beyond those kept for waiting callers.
 *
 * With a `ticket` that AwaitMessage has answered there is one.
 * @typedef {object} SentTakeMessage
 * @property {string} topic
 * @property {number | bigint} [ticket]
 */

/**
 * Forget working tokens from the tail (P6).
 * @typedef {object} SentTruncateTokens
 * @property {number | bigint} context
 * @property {number | bigint} tokens
 */

/**
 * Close a subscription. Closing twice is no error.
 * @typedef {object} SentUnsubscribe
 * @property {number | bigint} subscription
 */

/**
 * One step of the evolution: the score of each seed, higher is better (Z4). Raises InvalidArgumentError.
 * @typedef {object} SentUpdateEvolution
 * @property {number | bigint} adapter
 * @property {readonly (number)[]} scores
 * @property {Ints} seeds
 * @property {number} max_sigma
 */

/**
 * More of the answer's body. The `last` piece completes the answer, and the client need not wait for the process.
 *
 * Waits while the client reads too slowly. Raises SessionClosedError if the client is gone.
 * @typedef {object} SentWriteHttpBody
 * @property {Uint8Array} data
 * @property {boolean} [last]
 */

/**
 * Fields and reply of each call, by its name.
 * @typedef {{
 *   advance_matcher: { fields: SentAdvanceMatcher, reply: MatcherState },
 *   await_broadcast: { fields: SentAwaitBroadcast, reply: boolean },
 *   await_child: { fields: SentAwaitChild, reply: ChildOutcome },
 *   await_incoming: { fields: SentAwaitIncoming, reply: null },
 *   await_message: { fields: SentAwaitMessage, reply: null },
 *   begin_http_answer: { fields: SentBeginHttpAnswer, reply: null },
 *   broadcast: { fields: SentBroadcast, reply: null },
 *   call_mcp: { fields: SentCallMcp, reply: string },
 *   cancel_child: { fields: SentCancelChild, reply: null },
 *   checkpoint_context: { fields: SentCheckpointContext, reply: null },
 *   commit_pages: { fields: SentCommitPages, reply: PageCounters },
 *   compile_grammar: { fields: SentCompileGrammar, reply: MatcherState | null },
 *   connect_mcp: { fields: SentConnectMcp, reply: null },
 *   count_dropped: { fields: SentCountDropped, reply: number },
 *   create_adapter: { fields: SentCreateAdapter, reply: AdapterState },
 *   create_context: { fields: SentCreateContext, reply: ContextState },
 *   decode: { fields: SentDecode, reply: string },
 *   delete_snapshot: { fields: SentDeleteSnapshot, reply: null },
 *   demote_context: { fields: SentDemoteContext, reply: null },
 *   describe_models: { fields: SentDescribeModels, reply: (ModelState)[] },
 *   describe_runtime: { fields: SentDescribeRuntime, reply: RuntimeInfo },
 *   destroy_adapter: { fields: SentDestroyAdapter, reply: null },
 *   embed: { fields: SentEmbed, reply: Embeddings },
 *   encode: { fields: SentEncode, reply: (number)[] },
 *   expect_context: { fields: SentExpectContext, reply: null },
 *   forget_child: { fields: SentForgetChild, reply: null },
 *   fork_adapter: { fields: SentForkAdapter, reply: AdapterState },
 *   fork_context: { fields: SentForkContext, reply: ContextState },
 *   fork_matcher: { fields: SentForkMatcher, reply: null },
 *   forward: { fields: SentForward, reply: ForwardReply },
 *   initialize_evolution: { fields: SentInitializeEvolution, reply: AdapterState },
 *   launch_child: { fields: SentLaunchChild, reply: string },
 *   leave_topic: { fields: SentLeaveTopic, reply: null },
 *   list_mcp_servers: { fields: SentListMcpServers, reply: (string)[] },
 *   load_adapter: { fields: SentLoadAdapter, reply: AdapterState | null },
 *   load_model: { fields: SentLoadModel, reply: ModelInfo },
 *   open_adapter: { fields: SentOpenAdapter, reply: AdapterState | null },
 *   open_snapshot: { fields: SentOpenSnapshot, reply: OpenedSnapshot | null },
 *   parse_tool_call: { fields: SentParseToolCall, reply: (ParsedToolCall)[] },
 *   prefetch_context: { fields: SentPrefetchContext, reply: boolean },
 *   push: { fields: SentPush, reply: null },
 *   read_adapter: { fields: SentReadAdapter, reply: AdapterPart },
 *   read_http_request: { fields: SentReadHttpRequest, reply: HttpRequest },
 *   read_market: { fields: SentReadMarket, reply: MarketReading },
 *   read_matcher_mask: { fields: SentReadMatcherMask, reply: (number)[] },
 *   read_split_regex: { fields: SentReadSplitRegex, reply: string },
 *   read_subscription: { fields: SentReadSubscription, reply: string | null },
 *   read_vocabulary: { fields: SentReadVocabulary, reply: Vocabulary },
 *   rebid: { fields: SentRebid, reply: number },
 *   receive_file: { fields: SentReceiveFile, reply: Uint8Array | null },
 *   receive_message: { fields: SentReceiveMessage, reply: string | null },
 *   release_context: { fields: SentReleaseContext, reply: null },
 *   release_matcher: { fields: SentReleaseMatcher, reply: null },
 *   release_pages: { fields: SentReleasePages, reply: PageCounters },
 *   render_turn: { fields: SentRenderTurn, reply: RenderedTurn },
 *   rerank: { fields: SentRerank, reply: Relevance },
 *   reserve_pages: { fields: SentReservePages, reply: PageCounters },
 *   retain_context: { fields: SentRetainContext, reply: number },
 *   rollback_matcher: { fields: SentRollbackMatcher, reply: MatcherState },
 *   save_snapshot: { fields: SentSaveSnapshot, reply: string },
 *   send_file: { fields: SentSendFile, reply: null },
 *   send_message: { fields: SentSendMessage, reply: null },
 *   set_bid: { fields: SentSetBid, reply: number },
 *   subscribe: { fields: SentSubscribe, reply: number },
 *   suspend_context: { fields: SentSuspendContext, reply: null },
 *   take_message: { fields: SentTakeMessage, reply: string | null },
 *   truncate_tokens: { fields: SentTruncateTokens, reply: PageCounters },
 *   unsubscribe: { fields: SentUnsubscribe, reply: null },
 *   update_evolution: { fields: SentUpdateEvolution, reply: AdapterState },
 *   write_http_body: { fields: SentWriteHttpBody, reply: null },
 * }} Calls
 */

export {};
