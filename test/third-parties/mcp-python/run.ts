/**
 * `npm run mcp-python`: the Python client of MCP lists the tools of a whole installation, declares, waits for a person,
 * pays and reads the trace, in both eras of the protocol. Says "skipped" where there is no Python.
 * @module
 */
import { fileURLToPath } from 'node:url';
import { runPython } from '../mcp-shopping.ts';

await runPython('mcp-python', fileURLToPath(new URL('.', import.meta.url)), ['legacy', 'auto']);
