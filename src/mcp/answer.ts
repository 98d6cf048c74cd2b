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
const longestText = 2_000;

type Told = {
  /** The tools that the caller has; another one is not named to it. */
  readonly offers: (tool: string) => boolean;
  /** Where a result has text of others. */
  readonly untrusted: readonly string[];
};

export function toolResult(outcome: Outcome, { offers, untrusted }: Told): CallToolResult {
  const next = offered(outcome.next, offers);
  if (outcome.kind === 'refusal') {
    const { code, message, rule, figures } = outcome;
    const text = JSON.stringify({ code, rule, figures, message, untrusted: ['message', 'figures'], next });
    return { isError: true, content: [{ type: 'text', text }] };
  }
  const structuredContent = { result: shortened(withoutLinks(outcome.result)), untrusted, next };
  return { structuredContent, content: [{ type: 'text', text: JSON.stringify(structuredContent) }] };
}

function offered(next: Next, offers: (tool: string) => boolean): Next {
  if (next.tool === undefined || offers(next.tool)) return next;
  return { do: next.do };
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

function shortened(value: unknown): unknown {
  const length = JSON.stringify(value).length;
  if (length <= longestAnswer) return value;
  return cut(value);
}

function cut(value: unknown): unknown {
  if (typeof value === 'string')
    return value.length <= longestText ? value : `${value.slice(0, longestText)}… (${value.length} characters)`;
  if (Array.isArray(value)) return value.map(cut);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, merchantBodies.includes(name) ? cutBody(inner) : cut(inner)]),
  );
}

function cutBody(body: unknown): unknown {
  const text = JSON.stringify(body);
  return text.length <= longestAnswer / 2 ? body : { truncated: true, receivedBytes: Buffer.byteLength(text) };
}
