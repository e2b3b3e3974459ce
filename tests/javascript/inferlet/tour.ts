/** What the examples leave out, on a real engine: each part returns what its test looks at. */

import {
  Adapter,
  AttentionScores,
  brle,
  chat,
  Context,
  Distribution,
  HiddenMean,
  HiddenState,
  Logprobs,
  messaging,
  Model,
  rule,
  rules,
  runtime,
  Sampler,
  scheduling,
  session,
  tools,
  zo,
} from 'inferlet';

const model = Model.load(runtime.models()[0]);
const tokenizer = model.tokenizer();

const parts = {
  async tokenizer() {
    const [ids, spelled] = tokenizer.specialTokens();
    const text = 'Grüße, 漢字 🍊';
    const whole = tokenizer.vocabs();
    return {
      text: tokenizer.decode(tokenizer.encode(text)) === text,
      special: [ids.length, spelled[0] instanceof Uint8Array],
      vocabulary: [whole[0].length, whole[1].length],
    };
  },

  async rules() {
    const prompt = tokenizer.encode('a list: one two three, one two three, one two');
    const steered = Sampler.multinomial(1, 1, { seed: 11 }).ruled(rules.mirostat({ tau: 2, rate: 0.3 }));
    using context = new Context(model).append(prompt);
    const atOnce = context.generate(steered, { maxTokens: 12, autoFlush: false });
    const tokens = await atOnce.collectTokens();
    using other = new Context(model).append(prompt);
    const stepwise = [];
    for await (const step of other.generate(steered, { maxTokens: 12, autoFlush: false }))
      stepwise.push(...(await step.execute()).tokens);
    using third = new Context(model);
    let [given, sampler, byHand]: [Iterable<number>, Sampler, number[]] = [prompt, steered, []];
    while (byHand.length < 12) {
      const inputs = [...given];
      const pass = third.forward().input(inputs);
      const drawn = pass.sample([inputs.length - 1], sampler);
      const out = await pass.execute();
      sampler = sampler.after(out.states(drawn).at(-1) ?? []);
      byHand.push(...(given = out.tokensAt(drawn)));
    }
    const counting = rule((row, { count }) => ({ logits: row.logits, states: { count: count.add(1) }, until: count.equals(2) }), {
      parameters: { count: 0 },
    });
    const short = other.generate(Sampler.argmax().ruled(counting()), { maxTokens: 12, stop: [] });
    return {
      same: [stepwise, byHand].map((found) => String(found) === String(tokens)),
      state: atOnce.sampler.rule?.state.mu === sampler.rule?.state.mu,
      ended: [(await short.collectTokens()).length, short.finishReason, short.sampler.rule?.state.count],
    };
  },

  async hidden() {
    const alike = rule(
      function alike(row, { towards, most }) {
        const state = row.hiddenState;
        return state.dot(towards).greater(towards.dot(towards).multiply(most));
      },
      { parameters: { towards: rules.vector(), most: 0.9 } },
    );
    using context = new Context(model).user('hi');
    const first = context.generate(Sampler.argmax(), { maxTokens: 1 });
    const probe = first.probeEachStep(-1, HiddenState());
    const states = [];
    for await (const step of first) states.push((await step.execute()).hiddenState(probe) ?? []);
    using again = new Context(model).user('hi');
    const ended = again.generate(Sampler.argmax(), { maxTokens: 12 }).until(alike({ towards: states[0] }));
    const tokens = await ended.collectTokens();
    using other = new Context(model).user('hi');
    const wrong = other.generate(Sampler.argmax(), { maxTokens: 12 }).until(alike({ towards: [1, 2] }));
    const refused = await wrong.collectTokens().catch((error: Error) => error.message);
    return { ended: [tokens.length, ended.finishReason], refused };
  },

  async together() {
    const texts = ['a list: one two three, one two', 'Once there was a dog. It'].map((text) => tokenizer.encode(text));
    const guided = Sampler.multinomial(1, 1, { seed: 11 }).ruled(rules.guidance({ scale: 2 }));
    const written = async (most: number) => {
      using told = new Context(model).append(texts[0]);
      using plain = new Context(model).append(texts[1]);
      const tokens: number[] = [];
      for await (const step of told.generate(guided, { others: [plain], maxTokens: 10, stop: [], autoFlush: false }))
        tokens.push(...(await step.upTo(most).execute()).tokens);
      return { tokens, grown: [told.seqLen - texts[0].length, plain.seqLen - texts[1].length] };
    };
    const [alone, several] = [await written(1), await written(4)];
    const unsure = rule((row, { nats }) => row.entropy.greater(nats), { parameters: { nats: 0 } });
    using short = new Context(model).user('hi');
    const ended = short.generate(Sampler.argmax().ruled(rules.typical()), { maxTokens: 12 }).until(
      rule((row) => row.entropy.greater(0), { candidates: 256 })(),
    );
    using other = new Context(model).user('hi');
    const plain = other.generate(Sampler.argmax(), { maxTokens: 12 }).until(unsure());
    return {
      same: String(alone.tokens) === String(several.tokens),
      grown: [alone.grown, several.grown],
      ended: [(await ended.collectTokens()).length, ended.finishReason, (await plain.collectTokens()).length],
    };
  },

  async adapters() {
    using adapter = Adapter.create(model, 'tour');
    using context = new Context(model).user('hi');
    zo.initialize(adapter, { rank: 2, populationSize: 2, targets: ['q_proj'] });
    const seeds = [2n ** 62n, -5];
    const scores: number[] = [];
    for (const seed of seeds) {
      const pass = context.fork().forward().input(chat.cue(model)).adapter(adapter).zoSeed(seed);
      const probe = pass.probe(0, Logprobs([5, 6]));
      scores.push((await pass.execute()).logprobs(probe)![0]);
    }
    zo.update(adapter, scores, seeds, 0.1);
    adapter.save('saved');
    const copy = adapter.fork('tour copy');
    copy.load('saved');
    adapter.destroy();
    copy.destroy();
    return {
      differ: scores[0] !== scores[1],
      gone: Adapter.open(model, 'tour') === undefined,
      bytes: adapter.sizeBytes > 0,
    };
  },

  async vectors() {
    const [left, right] = await model.embed(['a dog', tokenizer.encode('a dog')]);
    using context = new Context(model);
    const pass = context.forward().input(tokenizer.encode('a dog'));
    const probe = pass.probe(0, HiddenMean());
    const mean = (await pass.execute()).hiddenState(probe)!;
    const ranking = await model.rerank('a dog', ['a train', 'a dog'], { topN: 1 });
    const best = [ranking.length, ranking[0].index, ranking.tokenCounts.length];
    const same = left.every((value, place) => value === right[place]);
    return { width: [left.length, mean.length], same, best };
  },

  async attention() {
    using context = new Context(model);
    const pass = context.forward().input(tokenizer.encode('a dog and a cat and a dog and a cat and a bird'));
    const probe = pass.probe(5, AttentionScores({ rows: 3, byGroup: true }));
    const scores = (await pass.execute()).attentionScores(probe)!;
    return scores.map((pages) => pages.reduce((sum, score) => sum + score, 0));
  },

  async masks() {
    const [yes, no] = ['yes', 'no'].map((word) => tokenizer.encode(word)[0]);
    using context = new Context(model).user('Is Oslo a city?');
    const only = brle.allowOnly([yes, no]);
    const pass = context.forward().input(chat.cue(model)).mask(only);
    const last = chat.cue(model).length - 1;
    const drawn = pass.sample([last, last], Sampler.multinomial(2, 3, { seed: 7 }));
    const likely = pass.probe(last, Distribution(1, 4));
    const out = await pass.execute();
    const [ids, shares] = out.distribution(likely)!;
    const tokens = [...out.tokensAt(drawn)];
    return {
      drawn: tokens.length,
      allowed: tokens.every((token) => token === yes || token === no),
      top: [ids.length, shares[0] >= shares[3]],
    };
  },

  async market() {
    using context = new Context(model).user('hi');
    await context.flush();
    const bid = context.setBid(0.5);
    {
      using _ = context.idle();
      await context.fork().flush();
    }
    const figures = [
      scheduling.balance(model),
      scheduling.rent(context),
      scheduling.dividend(model),
      scheduling.latency(context),
      scheduling.price(),
    ];
    context.suspend();
    return { bid, figures: figures.every(Number.isFinite), back: await context.prefetch(), kept: context.seqLen > 0 };
  },

  async channels() {
    using news = messaging.subscribe('news');
    messaging.broadcast('news', { n: 1 });
    messaging.push('jobs', 'one');
    session.sendFile(new TextEncoder().encode('hello'), 'a.txt');
    return { news: await news.next(), job: await messaging.pull('jobs'), said: await session.receive() };
  },

  async toolCalls() {
    const schema = {
      name: 'get_weather',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    };
    using context = new Context(model).append(tools.equipPrefix(model, [schema])).user('What is the weather in Oslo?');
    const constrain = tools.nativeGrammar(model, [schema]);
    const tokens = await context.generate(Sampler.argmax(), { maxTokens: 48, constrain }).collectTokens();
    const found = tools.parseCall(model, tokenizer.decode(tokens), [schema]);
    return { name: found?.name, args: found && JSON.parse(found.args) };
  },
};

export async function main({ part }: { part: keyof typeof parts }) {
  return await parts[part]();
}
