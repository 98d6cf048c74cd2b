/**
 * `npm run openai-agents`: the MCP client of the OpenAI Agents SDK, without a model, lists the tools of a whole
 * installation, declares, waits for a person, pays and reads the trace. Says "skipped" where there is no Python.
 * @module
 */
import { fileURLToPath } from 'node:url';
import { runPython } from '../mcp-shopping.ts';

await runPython('openai-agents', fileURLToPath(new URL('.', import.meta.url)), ['http']);
