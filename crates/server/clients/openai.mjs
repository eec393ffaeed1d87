// Asks a server through the client openai of npm.
//
//     node openai.mjs URL

import OpenAI from 'openai';
import { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod';
import { z } from 'zod';

const model = 'random';
const Thing = z.strictObject({ kind: z.enum(['zqx', 'wvu']), sizes: z.array(z.int().min(0).max(9)).min(1).max(3) });
const client = new OpenAI({ baseURL: process.argv[2], apiKey: 'none', maxRetries: 0 });
const messages = [{ role: 'user', content: 'A thing, please.' }];

const format = zodResponseFormat(Thing, 'thing');
const parsed = await client.chat.completions.parse({ model, messages, response_format: format, max_tokens: 200 });
Thing.parse(parsed.choices[0].message.parsed);

const stream = client.chat.completions.stream({ model, messages, response_format: format, max_tokens: 200 });
Thing.parse((await stream.finalChatCompletion()).choices[0].message.parsed);

const text = { format: zodTextFormat(Thing, 'thing') };
const response = await client.responses.parse({ model, input: 'A thing.', text, max_output_tokens: 200 });
Thing.parse(response.output_parsed);
console.log('openai (npm): ok');
