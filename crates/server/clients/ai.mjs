// Asks a server through the client ai of npm, by chat completions and by responses.
//
//     node ai.mjs URL

import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, Output, streamText, tool } from 'ai';
import { z } from 'zod';

const baseURL = process.argv[2];
const Thing = z.strictObject({ kind: z.enum(['zqx', 'wvu']), sizes: z.array(z.int().min(0).max(9)).min(1).max(3) });
const common = { prompt: 'A thing, please.', maxOutputTokens: 300, maxRetries: 0 };
const compatible = createOpenAICompatible({
  name: 'grammata', baseURL, apiKey: 'none', supportsStructuredOutputs: true,
});

for (const model of [compatible('random'), createOpenAI({ baseURL, apiKey: 'none' }).responses('random')]) {
  const output = Output.object({ schema: Thing });
  Thing.parse((await generateText({ ...common, model, output })).output);
  const streamed = streamText({ ...common, model, output });
  for await (const _ of streamed.textStream);
  Thing.parse(await streamed.output);
  const tools = { take: tool({ inputSchema: Thing }) };
  const called = await generateText({ ...common, model, tools, toolChoice: 'required' });
  if (called.toolCalls.length === 0) throw new Error('no call');
  called.toolCalls.forEach((call) => Thing.parse(call.input));
}
console.log('ai: ok');
