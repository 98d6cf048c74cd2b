/** Goal: docs/mcp.md shows the tools that there are. Method: the table is written anew and compared. @module */
import { readFile, writeFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { openApiOf } from '../../src/http/openapi.ts';
import { publishedAreas } from '../../src/main/modules/index.ts';
import { catalogFor } from '../../src/mcp/catalog.ts';
import { servedOperations } from '../../src/mcp/operations.ts';

const file = 'docs/mcp.md';
const between = /(<!-- tools -->\n)[\s\S]*?(<!-- \/tools -->)/;

function toolsTable(): string {
  const openapi = openApiOf(publishedAreas, { version: '0', mode: 'sandbox', serverUrl: 'http://localhost' });
  const catalog = catalogFor('key', { served: servedOperations(publishedAreas), openapi });
  const rows = [...catalog.values()].map(({ tool, scopes }) => {
    const seenBy = tool.isOwners === true ? "an owner's key" : scopes.map((scope) => `\`${scope}\``).join(', ');
    return `| \`${tool.name}\` | ${seenBy} | ${tool.title} | ${tool.reason} |\n`;
  });
  return `\n| tool | seen with | what it does | why it is a tool |\n|---|---|---|---|\n${rows.join('')}\n`;
}

/** `UPDATE_MCP_TABLE=1` writes it. */
test('the table of tools is current', async () => {
  const text = await readFile(file, 'utf8');
  const current = text.replace(between, (_, begin: string, end: string) => `${begin}${toolsTable()}${end}`);
  if (process.env.UPDATE_MCP_TABLE === '1') await writeFile(file, current);
  else expect(text).toBe(current);
});
