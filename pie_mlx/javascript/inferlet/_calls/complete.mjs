// Written by `python -m tools.javascript`. Change the Python code, then run it.

/** @import { MatcherState, ChildOutcome, PageCounters, AdapterState, ContextState, ModelState, RuntimeInfo, SampledTokens, Miss, Reuse, ForwardReply, ReasoningFormat, ToolFormat, Formats, EmbeddingFormat, ModelInfo, Turn, ChatState, PendingInput, OpenedSnapshot, HttpRequest, RenderedTurn } from './types.mjs' */

/** @typedef {(found: any) => any} Completing */

/** @param {Completing} one @returns {Completing} */
const optional = (one) => (found) => (found == null ? null : one(found));

/** @param {Completing} one @returns {Completing} */
const each = (one) => (found) => found.map(one);

/** @param {string} field @param {Record<string, Completing>} kinds @returns {Completing} */
const byTag = (field, kinds) => (found) => (kinds[found[field]] ?? ((same) => same))(found);

/** @param {any} found @returns {MatcherState} */
function completeMatcherState(found) {
  return {
    complete: false,
    terminated: false,
    warnings: [],
    ...found,
  };
}

/** @param {any} found @returns {ChildOutcome} */
function completeChildOutcome(found) {
  return {
    value: '',
    format: 'none',
    error_type: '',
    code: '',
    message: '',
    ...found,
  };
}

/** @param {any} found @returns {PageCounters} */
function completePageCounters(found) {
  return {
    committed: 0,
    working: 0,
    working_tokens: 0,
    ...found,
  };
}

/** @param {any} found @returns {AdapterState} */
function completeAdapterState(found) {
  return {
    version: 0,
    size_bytes: 0,
    ...found,
  };
}

/** @param {any} found @returns {ContextState} */
function completeContextState(found) {
  return {
    ...found,
    counters: completePageCounters(found.counters ?? {}),
  };
}

/** @param {any} found @returns {ModelState} */
function completeModelState(found) {
  return {
    aliases: [],
    draft_model: '',
    maximum_positions: 0,
    programs: 0,
    stays: '',
    expires_in_seconds: null,
    ...found,
  };
}

/** @param {any} found @returns {RuntimeInfo} */
function completeRuntimeInfo(found) {
  return {
    process_id: '',
    loaded: [],
    loading: {},
    ...found,
  };
}

/** @param {any} found @returns {SampledTokens} */
function completeSampledTokens(found) {
  return {
    logprobs: [],
    states: [],
    ended: false,
    ...found,
  };
}

/** @param {any} found @returns {Miss} */
function completeMiss(found) {
  return {
    text: '',
    cached_text: '',
    evicted_at: 0.0,
    evicted_for: '',
    ...found,
  };
}

/** @param {any} found @returns {Reuse} */
function completeReuse(found) {
  return {
    from_memory: 0,
    from_disk: 0,
    replayed: 0,
    computed: 0,
    ...found,
    miss: optional(completeMiss)(found.miss ?? null),
  };
}

/** @param {any} found @returns {ForwardReply} */
function completeForwardReply(found) {
  return {
    grammar_terminated: false,
    attached: 0,
    drafted: 0,
    kept: 0,
    prefetched: [],
    replayed: 0,
    forced: 0,
    accepted: 0,
    drafted_by: '',
    ...found,
    results: each(byTag('result', { sampled_tokens: completeSampledTokens }))(found.results),
    counters: completePageCounters(found.counters),
    reuse: optional(completeReuse)(found.reuse ?? null),
    others: each(completePageCounters)(found.others ?? []),
  };
}

/** @param {any} found @returns {ReasoningFormat} */
function completeReasoningFormat(found) {
  return {
    opened_by_cue: false,
    ...found,
  };
}

/** @param {any} found @returns {ToolFormat} */
function completeToolFormat(found) {
  return {
    openings: [],
    closing: '',
    bare: '',
    ...found,
  };
}

/** @param {any} found @returns {Formats} */
function completeFormats(found) {
  return {
    control_tokens: [],
    channels: false,
    answer_opening: '',
    strips_first_space: false,
    ...found,
    reasoning: optional(completeReasoningFormat)(found.reasoning ?? null),
    tools: optional(completeToolFormat)(found.tools ?? null),
  };
}

/** @param {any} found @returns {EmbeddingFormat} */
function completeEmbeddingFormat(found) {
  return {
    prompts: {},
    default_prompt: '',
    reranking: 'compares',
    ...found,
  };
}

/** @param {any} found @returns {ModelInfo} */
function completeModelInfo(found) {
  return {
    hidden_size: 0,
    template_variables: [],
    has_chat_template: true,
    attention_groups: 0,
    generates: true,
    ...found,
    formats: completeFormats(found.formats),
    embedding: optional(completeEmbeddingFormat)(found.embedding ?? null),
  };
}

/** @param {any} found @returns {Turn} */
function completeTurn(found) {
  return {
    text: '',
    name: '',
    schemas: [],
    calls: [],
    ...found,
  };
}

/** @param {any} found @returns {ChatState} */
function completeChatState(found) {
  return {
    last: null,
    due: '',
    owed: '',
    inline: false,
    began: '',
    ...found,
    held: each(completeTurn)(found.held ?? []),
    turns: each(completeTurn)(found.turns ?? []),
  };
}

/** @param {any} found @returns {PendingInput} */
function completePendingInput(found) {
  return {
    tokens: [],
    cued: null,
    lead: [],
    stopped: false,
    ...found,
    chat: completeChatState(found.chat ?? {}),
  };
}

/** @param {any} found @returns {OpenedSnapshot} */
function completeOpenedSnapshot(found) {
  return {
    ...found,
    state: completeContextState(found.state),
    pending: completePendingInput(found.pending),
  };
}

/** @param {any} found @returns {HttpRequest} */
function completeHttpRequest(found) {
  return {
    query: '',
    headers: [],
    body: new Uint8Array(),
    ...found,
  };
}

/** @param {any} found @returns {RenderedTurn} */
function completeRenderedTurn(found) {
  return {
    ...found,
    state: completeChatState(found.state),
  };
}

/**
 * What completes a reply, by the call that it answers: the wire leaves out fields that have their default.
 * @type {Record<string, Completing>}
 */
export const COMPLETE = {
  advance_matcher: completeMatcherState,
  await_child: completeChildOutcome,
  commit_pages: completePageCounters,
  compile_grammar: optional(completeMatcherState),
  create_adapter: completeAdapterState,
  create_context: completeContextState,
  describe_models: each(completeModelState),
  describe_runtime: completeRuntimeInfo,
  fork_adapter: completeAdapterState,
  fork_context: completeContextState,
  forward: completeForwardReply,
  initialize_evolution: completeAdapterState,
  load_adapter: optional(completeAdapterState),
  load_model: completeModelInfo,
  open_adapter: optional(completeAdapterState),
  open_snapshot: optional(completeOpenedSnapshot),
  read_http_request: completeHttpRequest,
  release_pages: completePageCounters,
  render_turn: completeRenderedTurn,
  reserve_pages: completePageCounters,
  rollback_matcher: completeMatcherState,
  truncate_tokens: completePageCounters,
  update_evolution: completeAdapterState,
};
