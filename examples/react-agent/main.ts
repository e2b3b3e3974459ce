/**
 * A ReAct agent: the model thinks, calls tools of an MCP server, reads what they answer, and goes on until it knows.
 *
 * The server is almanac.py, which config.toml names; any other that your configuration has will do.
 *
 *     pie run examples/react-agent/main.ts -c examples/react-agent/config.toml -- --question "What time is it in Lima?"
 */

import { chat, Context, mcp, McpSession, Model, reasoning, runtime, Sampler, session, tools } from 'inferlet';

type Input = { question?: string; server?: string; max_calls?: number };
type McpTool = { name: string; description: string; inputSchema: object };

export async function main(input: Input): Promise<string> {
  const { question = 'What is the weather in Oslo?', server: name = 'almanac', max_calls: mostCalls = 4 } = input;
  using server = mcp.connect(name);
  using context = new Context(Model.load(runtime.models()[0]));
  context.system('Think step by step.').equipTools(schemas(server)).user(question);
  for (let calls = 0; calls <= mostCalls; calls += 1) {
    const { answer, called } = await turn(context);
    if (called.length === 0) return answer;
    context.seal();
    for (const { name, args } of called) {
      const result = observe(server, name, args);
      session.send(`Action: ${name} ${args}\nObservation: ${result}\n`);
      context.answerTool(name, result);
    }
  }
  return `No answer after ${mostCalls} calls.`;
}

/** The server's tools as chat templates know them. */
function schemas(server: McpSession): object[] {
  const { tools: found } = JSON.parse(server.listTools()) as { tools: McpTool[] };
  return found.map(({ name, description, inputSchema }) => {
    return { type: 'function', function: { name, description, parameters: inputSchema } };
  });
}

/** What a tool answers, as text. That it failed is something to read, too. */
function observe(server: McpSession, name: string, args: string): string {
  const { content } = JSON.parse(server.callTool(name, args)) as { content: { type: string; text: string }[] };
  return content.flatMap(({ type, text }) => (type === 'text' ? [text] : [])).join('\n');
}

/** The model's turn: its thoughts are sent, what it says and the tools it calls are given back. */
async function turn(context: Context) {
  const { model } = context;
  const [text, thoughts, calls] = [new chat.Decoder(model), new reasoning.Decoder(model), new tools.Decoder(model)];
  let answer = '';
  const called: { name: string; args: string }[] = [];
  for await (const step of context.generate(Sampler.argmax(), { maxTokens: 96 })) {
    const { tokens } = await step.execute();
    const [heard, thought, call] = [text.feed(tokens), thoughts.feed(tokens), calls.feed(tokens)];
    if (heard.type === 'delta') answer += heard.text;
    if (thought.type === 'end') session.send(`Thought: ${thought.text.trim()}\n`);
    if (call.type === 'call') called.push(call);
  }
  return { answer: answer.trim(), called };
}
