/** Facts out of the specification's headings, lists and paragraphs, sentence by sentence. @module */
import { areaServing } from './areas.ts';
import type { Claim, Fact } from './facts.ts';
import type { Block } from './markdown.ts';
import { saysNothing, statements } from './statements.ts';

const said: Claim = { kind: 'said' };
const fact = (id: string, area: string, claim: Claim = said): Fact => ({ id, area, claim });

const endpoint = /^(GET|POST|PUT|PATCH|DELETE) (\/\S*)(?: \(.*\))?$/;

/** `POST /webhooks (create webhook subscription)`. */
export function headingFacts(text: string): Fact[] {
  const [, method, path] = endpoint.exec(text) ?? [];
  if (method === undefined || path === undefined) return [];
  const claim: Claim = { kind: 'path', method: method.toLowerCase(), path };
  return [fact(`path:${method} ${path}`, areaServing(path), claim)];
}

type Said = Extract<Block, { kind: 'item' | 'paragraph' }>;

export function sentenceFacts(block: Said): Fact[] {
  const whole = statements[block.text];
  if (whole !== undefined) return [...whole];
  const [, method, path] = endpoint.exec(block.section.split(' > ').at(-1) ?? '') ?? [];
  const where =
    method === undefined || path === undefined
      ? undefined
      : { operation: `${method} ${path}`, area: areaServing(path) };
  return block.text.split(/(?<=\.)\s+(?=[A-Z`])/).flatMap((sentence) => ofSentence(sentence.replace(/\.$/, ''), where));
}

type Where = { readonly operation: string; readonly area: string };

function ofSentence(sentence: string, where: Where | undefined): Fact[] {
  if (/(: |^)not shown$/.test(sentence) || /not shown$/.test(sentence) || saysNothing.has(sentence)) return [];
  const stated = statements[sentence];
  if (stated !== undefined) return [...stated];
  if (where !== undefined) {
    for (const [form, read] of forms) {
      const found = form.exec(sentence);
      if (found !== null) return read(found, where);
    }
  }
  throw new Error(`no fact is known for: ${sentence}`);
}

const words: Readonly<Record<string, number>> = { Two: 2, Three: 3, Four: 4 };

/** What is said of an operation below its heading. */
const forms: readonly (readonly [RegExp, (found: RegExpExecArray, where: Where) => Fact[]])[] = [
  [
    /^(\d{3}): ([^,]+)/,
    ([, status, meaning], { operation, area }) => [
      fact(`status:${operation}:${status} ${meaning?.replaceAll('`', '')}`, area, {
        kind: 'status',
        operation,
        status: Number(status),
      }),
    ],
  ],
  [
    /^Header `([\w-]+)`: required$/,
    ([, name = ''], { operation, area }) => [
      fact(`header:${operation}:${name} required`, area, { kind: 'header', operation, name, isRequired: true }),
    ],
  ],
  [/^(?:Request body fields|Body): (.+)$/, ([, fields = ''], where) => fieldsIn(fields, 'body', where)],
  [/^Response body: (.+)$/, ([, fields = ''], where) => fieldsIn(fields, 'answer', where)],
  [/^(?:Error body: )`\{error\}`$/, () => []],
  [
    /^(Two|Three|Four) error responses exist, each (?:with body )?`\{error\}`$/,
    ([, count = ''], { operation, area }) => [
      fact(`refusals:${operation}:${words[count]}`, area, { kind: 'refusals', operation, atLeast: words[count] ?? 0 }),
    ],
  ],
];

/** Names in backquotes that are fields: those with a type after them, or in a plain list of names. */
function fieldsIn(text: string, kind: 'body' | 'answer', { operation, area }: Where): Fact[] {
  const names = [...text.matchAll(/`([A-Za-z_]+)`/g)].map(([, name]) => name ?? '');
  const fields = names.filter((name) => name !== 'completed' && name !== 'PolicyCreateRequest');
  return fields.map((name) => fact(`${kind}:${operation}:${name}`, area, { kind, operation, name }));
}
