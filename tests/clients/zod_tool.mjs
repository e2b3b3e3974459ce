// A tool with a schema of zod, as the AI SDK sends it by each of its interfaces.

import assert from "node:assert";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, tool } from "ai";
import { z } from "zod";

const [url, name] = process.argv.slice(2);
const options = { baseURL: `${url}/v1`, apiKey: "none" };
const bodies = [];
const fetch = (address, request) => (bodies.push(request.body), globalThis.fetch(address, request));
const weather = tool({ description: "The weather", inputSchema: z.object({ city: z.string() }) });
const models = [
  createOpenAICompatible({ ...options, name: "pie", fetch })(name),
  createAnthropic({ ...options, fetch })(name),
  createOpenAI({ ...options, fetch })(name),
];
for (const model of models) {
  const { toolCalls } = await generateText({
    model,
    maxRetries: 0,
    temperature: 0,
    system: "You are a helpful assistant.",
    prompt: "What is the weather in Paris?",
    tools: { weather },
  });
  assert.deepEqual(toolCalls.map((call) => [call.toolName, call.input]), [["weather", { city: "Paris" }]]);
}
// What was sent is what makes this a test.
assert(bodies.every((body) => body.includes('{"$schema":') && body.includes('"additionalProperties":false')));
