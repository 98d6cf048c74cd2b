/**
 * Goal: a route only translates: it names the records, opens the transaction, calls, and shapes the answer. Method:
 * searches the route files for what a decision looks like.
 * @module
 */
import { glob, readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';

/** A line of code that is not a translation, with the reason. The list may only get shorter. */
const exceptions: Readonly<Record<string, string>> = {
  'src/domains/identity/keys/key.routes.ts: isCurrent: key.id === current,':
    'marks the key that the call was made with',
  'src/domains/spending/intents/intent.routes.ts: if (isNew) deps.gateway.startSoon(intentWorkflowId(row.id));':
    'a repeat answers 200 and starts nothing; the use case has decided which it is',
};

/** A record that is gone between the edge's check and the answer is 404 wherever it is noticed. */
const isGone = /^if \(\w+ === null\) throw notFound\([^;]*\);$/;
const isAbsent = /[!=]== (?:undefined|null)\b/g;
const decides = /\b(?:if|for|while|switch) \(|\bthrow\b|\bDomainError\(|[!=]==| [<>]=? |\btypeof \w+ ===/;

const linesOf = (text: string): string[] =>
  text
    .replace(/\/\*[\s\S]*?\*\/|^import[^;]*;/gm, '')
    .split('\n')
    .map((line) => line.replace(/(?:^|\s)\/\/.*$/, '').trim());

const decisionsIn = (text: string): string[] =>
  linesOf(text).filter((line) => !isGone.test(line) && decides.test(line.replace(isAbsent, '')));

test('a route file decides nothing', async () => {
  const found: string[] = [];
  for await (const path of glob('src/domains/**/*.routes.ts')) {
    found.push(...decisionsIn(await readFile(path, 'utf8')).map((line) => `${path}: ${line}`));
  }
  expect(found.toSorted()).toEqual(Object.keys(exceptions).toSorted());
});

test.each([
  "if (row.status === 'closed') return undefined;",
  "throw new DomainError('invalid_state', 'the card is closed');",
  "const plan = deps.mode === 'sandbox' ? 'enterprise' : 'free';",
  "if (agentId === undefined) throw new DomainError('invalid_request', 'body.agentId: is missing');",
  'if (row === null || row.isFinal) throw notFound(name, id);',
  'if (row.isFinal) return wire(row);',
  'for (const row of rows) total += row.amountCents;',
  'const late = row.expiresAt < now;',
  'const waiting = rows.filter(({ status }) => status !== waitingStatus);',
])('a route with “%s” is found', (line) => {
  expect(decisionsIn(`export const handlers = () => ({\n  getCard: async () => {\n    ${line}\n  },\n});\n`)).toEqual([
    line,
  ]);
});

test.each([
  "if (card === null) throw notFound('card', cardId);",
  "const source = body.presetId === undefined ? { policyId: body.policyId ?? '' } : { presetId: body.presetId };",
])('a route with “%s” translates', (line) => {
  expect(decisionsIn(`const one = () => {\n  ${line}\n};\n`)).toEqual([]);
});
