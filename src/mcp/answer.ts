/**
 * What a tool answers: a result with the next step, or a refusal with code, rule, figures and the next step. The text is
 * exactly the JSON of the structured content. No approval link leaves, and no answer is longer than a model reads.
 * @module
 */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { linkField } from './schemas.ts';

/** The next step, in our own words; texts of merchants and people never stand in it. */
export type Next = {
  readonly do: string;
  readonly tool?: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
};

export type Result = {
  readonly kind: 'result';
  readonly result: unknown;
  readonly next: Next;
};

export type Refusal = {
  readonly kind: 'refusal';
  readonly code: string;
  readonly message: string;
  readonly rule: string | null;
  readonly figures: Readonly<Record<string, unknown>>;
  readonly next: Next;
};

export type Outcome = Result | Refusal;

/** About 15,000 tokens; clients cut at 25,000. */
export const longestAnswer = 50_000;
/** The rest is `untrusted` and `next`. */
const longestResult = longestAnswer - 8_000;
const longestText = 2_000;

type Told = {
  /** The tools that the caller has; another one is not named to it. */
  readonly offers: (tool: string) => boolean;
  /** Where a result has text of others. */
  readonly untrusted: readonly string[];
};

export function toolResult(outcome: Outcome, { offers, untrusted }: Told): CallToolResult {
  const next = shortNext(offered(outcome.next, offers));
  if (outcome.kind === 'refusal') {
    const { code, rule } = outcome;
    const { message, figures } = cut({ message: outcome.message, figures: outcome.figures }, firstCut);
    const text = JSON.stringify({ code, rule, figures, message, untrusted: ['message', 'figures'], next });
    return { isError: true, content: [{ type: 'text', text }] };
  }
  const { value: result, isWhole } = shortened(withoutLinks(outcome.result));
  const structuredContent = { result, untrusted, next: isWhole ? next : { ...next, do: `${leftOut} ${next.do}` } };
  return { structuredContent, content: [{ type: 'text', text: JSON.stringify(structuredContent) }] };
}

function offered(next: Next, offers: (tool: string) => boolean): Next {
  if (next.tool === undefined || offers(next.tool)) return next;
  return { do: next.do };
}

const leftOut = 'Records were left out, because the answer was too long: ask for fewer of them.';

/** Arguments that a caller sent are its own to repeat. */
function shortNext({ arguments: given, ...next }: Next): Next {
  if (given === undefined) return next;
  return JSON.stringify(given).length > longestText * 2 ? next : { ...next, arguments: given };
}

/** A person decides by a link, which no program is to follow. An owner's key would otherwise be shown it. */
export function withoutLinks(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutLinks);
  // A text stays a text, because the schema of the answer says so.
  if (typeof value === 'string') return value.replace(/\S*\/approve\/\w\S*/g, '[link not shown]');
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => (name === linkField ? [] : [[name, withoutLinks(inner)]])),
  );
}

const merchantBodies: readonly string[] = ['merchantBody', 'merchant_body'];

type Cut = { readonly text: number; readonly items: number };

const firstCut: Cut = { text: longestText, items: Number.POSITIVE_INFINITY };
/** Texts first, because every record may matter. The form stays that of the contract. */
const cuts: readonly Cut[] = [
  firstCut,
  ...[500, 100].map((text) => ({ text, items: Number.POSITIVE_INFINITY })),
  ...[20, 10, 5, 2, 1, 0].map((items) => ({ text: 100, items })),
];

/** `isWhole`: every record is there. */
function shortened(value: unknown): { readonly value: unknown; readonly isWhole: boolean } {
  const fits = (one: unknown): boolean => JSON.stringify(one).length <= longestResult;
  if (fits(value)) return { value, isWhole: true };
  for (const one of cuts) {
    const short = cut(value, one);
    if (fits(short)) return { value: short, isWhole: one.items === Number.POSITIVE_INFINITY };
  }
  return { value: cut(value, { text: 0, items: 0 }), isWhole: false };
}

function cut<T>(value: T, by: Cut): T;
function cut(value: unknown, by: Cut): unknown {
  if (typeof value === 'string')
    return value.length <= by.text ? value : `${value.slice(0, by.text)}… (${value.length} characters)`;
  if (Array.isArray(value)) return value.slice(0, by.items).map((inner) => cut(inner, by));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      merchantBodies.includes(name) ? cutBody(inner) : cut(inner, by),
    ]),
  );
}

function cutBody(body: unknown): unknown {
  const text = JSON.stringify(body);
  return text.length <= longestAnswer / 2 ? body : { truncated: true, receivedBytes: Buffer.byteLength(text) };
}
