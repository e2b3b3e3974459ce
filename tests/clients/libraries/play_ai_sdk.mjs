// The AI SDK: texts, whole and as a stream, and a tool with a schema of zod, by the interfaces of OpenAI and Anthropic.
// By responses it tells the engine's own items by their names.

import assert from "node:assert";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { embedMany, generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

const [url, name] = process.argv.slice(2);
const compatible = createOpenAICompatible({ name: "pie", baseURL: `${url}/v1`, apiKey: "none" });
const anthropic = createAnthropic({ baseURL: `${url}/v1`, apiKey: "none" });
const openai = createOpenAI({ baseURL: `${url}/v1`, apiKey: "none" });
const weather = tool({
  description: "The degrees in a city",
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => (city === "Paris" ? "21" : "unknown"),
});

for (const model of [compatible(name), anthropic(name), openai(name)]) {
  const options = { model, maxRetries: 0 };
  assert.equal((await generateText({ ...options, prompt: "Hello" })).text, "Hello there.");
  let text = "";
  for await (const part of streamText({ ...options, prompt: "Hello" }).textStream) text += part;
  assert.equal(text, "Hello there.");
  const asked = { ...options, prompt: "How warm is it in Paris?", tools: { weather }, stopWhen: stepCountIs(3) };
  assert.equal((await generateText(asked)).text, "It is 21 degrees in Paris.");
}
const { embeddings } = await embedMany({ model: compatible.textEmbeddingModel(name), values: ["a", "b"] });
assert.equal(embeddings.length, 2);
