/** Every name of the JavaScript SDK of Pie, as its reference lists them, is here. */

import * as inferlet from '../../../pie_mlx/javascript/inferlet/index.mjs';
import { assert, test } from './testing.mjs';

const MODULES = {
  runtime: 'models version instanceId username',
  chat: 'Decoder system user assistant cue seal stopTokens',
  reasoning: 'Decoder',
  tools: 'Decoder equipPrefix answerPrefix nativeMatcher',
  session: 'send sendFile receive receiveFile',
  messaging: 'broadcast subscribe push pull',
  mcp: 'availableServers connect',
  scheduling: 'balance rent dividend latency price',
};
const FUNCTIONS = 'Logits Distribution Logprob Logprobs Entropy jsonSchema anyJson regex ebnf grammar';
const STATICS = {
  Model: 'load',
  Context: 'open take delete',
  Sampler: 'argmax topP topK minP topKTopP multinomial',
  Grammar: 'fromJsonSchema json fromRegex fromEbnf',
  GrammarConstraint: 'fromGrammar fromJsonSchema json fromRegex fromEbnf',
  Adapter: 'create open',
};
const METHODS = {
  Model: 'tokenizer',
  Tokenizer: 'encode decode vocabs specialTokens splitRegex',
  Context: `fork save snapshot release system user assistant cue seal append appendText flush model pageSize seqLen buffer
    truncate generate forward setBid idle`,
  Generator: `maxTokens stop addStop constrain horizon adapter zoSeed probeEachStep tokensGenerated isDone collectTokens
    collectText collectJson accept`,
  GenStep: 'clearSampler probe execute',
  Forward: 'input inputAt attentionMask mask sample probe adapter zoSeed execute startPosition',
  Output: 'token tokensAt distribution logits logprobs entropy raw',
  Matcher: 'acceptTokens nextTokenLogitMask isTerminated reset',
  Adapter: 'fork save load destroy',
  Subscription: 'next unsubscribe',
  McpSession: 'listTools callTool listResources readResource listPrompts getPrompt',
};
const DISPOSABLE = ['Context', 'Adapter', 'Subscription'];
const names = (text) => text.split(/\s+/);

test('functions and modules are exported', () => {
  assert.deepEqual(
    names(FUNCTIONS).filter((name) => typeof inferlet[name] !== 'function'),
    [],
  );
  for (const [module, listed] of Object.entries(MODULES)) {
    assert.deepEqual(
      names(listed).filter((name) => typeof inferlet[module][name] !== 'function'),
      [],
      module,
    );
  }
});

test('classes have their methods', () => {
  for (const [kind, listed] of Object.entries(STATICS)) {
    assert.deepEqual(
      names(listed).filter((name) => typeof inferlet[kind][name] !== 'function'),
      [],
      kind,
    );
  }
  for (const [kind, listed] of Object.entries(METHODS)) {
    assert.deepEqual(
      names(listed).filter((name) => !(name in inferlet[kind].prototype)),
      [],
      kind,
    );
  }
});

test('what holds something is released by using, and iterables are iterable', () => {
  assert.deepEqual(
    DISPOSABLE.filter((kind) => !(Symbol.dispose in inferlet[kind].prototype)),
    [],
  );
  for (const kind of ['Generator', 'Subscription']) assert.ok(Symbol.asyncIterator in inferlet[kind].prototype);
});
