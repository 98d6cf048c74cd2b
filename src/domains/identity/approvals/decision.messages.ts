/**
 * A person's decision on a record that waits for one, as it travels between the API, the worker and the record's
 * workflow, and the grammar of a decision that a person types into a signal. The same for every approval subject.
 * @module
 */
import { textsOf } from '../../../kernel/bounded.ts';
import type { Ignored } from '../../../kernel/message.ts';
import { type Cents, cents, centsFromEuros } from '../../../kernel/money.ts';

const decisions = ['approve', 'deny', 'cancel'] as const;

/** Amounts that the approver sets instead of the requested ones, by their names on the wire, such as `dailyLimitEuros`. */
export type ApproverChanges = Readonly<Record<string, Cents>>;

/** A decision as a workflow receives it: the API has checked who decides, or a person typed it. */
export type Decision = {
  readonly decision: (typeof decisions)[number];
  readonly actor: 'key' | 'passkey' | 'signal';
  /** The id or name of the approver. */
  readonly by: string;
  readonly causeId: string;
  readonly requestId: string;
  /** `X-Service-Run-Id` of the request, if it named one. */
  readonly runId?: string;
  /** Given with an approval that changes the request. */
  readonly changes?: ApproverChanges;
  /** The API's signature over the other fields (decision-signature.ts); a signal has none. */
  readonly signature?: string;
};

export type TypedDecision = Pick<Decision, 'decision' | 'by' | 'changes'>;

/**
 * Reads what a person typed: `"approve"`, `{"decision":"deny","by":"anna"}`, or
 * `{"decision":"approve","by":"anna","changes":{"dailyLimitEuros":50}}`. Anything else is named in the answer, never thrown.
 */
export function parseDecision(typed: unknown): TypedDecision | Ignored {
  const { decision, by, changes } = isObject(typed) ? typed : { decision: typed, by: undefined, changes: undefined };
  const word = typeof decision === 'string' ? decision.trim().toLowerCase() : undefined;
  const known = decisions.find((candidate) => candidate === word);
  if (known === undefined) return { ignored: 'a signal that is not approve, deny or cancel was ignored' };
  if (changes === undefined || changes === null) return { decision: known, by: nameOf(by) };
  if (known !== 'approve') return { ignored: `a ${known} with changes was ignored; only an approval changes amounts` };
  const read = changesOf(changes, euros);
  if (read === undefined) return { ignored: 'an approval was ignored: changes are amounts in euros, by their names' };
  return { decision: known, by: nameOf(by), changes: read };
}

/** Reads an update: the API's own decision as it is, anything else as a decision that a person typed. */
export function decisionFromUpdate(input: unknown, updateId: string): Decision | Ignored {
  const ofApi = decisionOfApi(input);
  if (ofApi !== undefined) return ofApi;
  const parsed = parseDecision(input);
  if ('ignored' in parsed) return { ignored: 'send {"decision":"approve","by":"your name"}; also "deny" and "cancel"' };
  const causeId = `update:${updateId}`.slice(0, 200);
  return { ...parsed, actor: 'signal', causeId, requestId: causeId };
}

/** Only the fields of a decision, each short; `signature` shows whether it comes from the API. */
function decisionOfApi(input: unknown): Decision | undefined {
  const { decision, actor, by, causeId, requestId, runId, signature } = textsOf(input, decisionFields);
  const word = decisions.find((candidate) => candidate === decision);
  if (word === undefined || (actor !== 'key' && actor !== 'passkey')) return undefined;
  if (by === undefined || causeId === undefined || requestId === undefined) return undefined;
  const sent = isObject(input) ? input.changes : undefined;
  const changes = sent === undefined ? undefined : changesOf(sent, wholeCents);
  if (sent !== undefined && changes === undefined) return undefined;
  const optional = {
    ...(runId === undefined ? {} : { runId }),
    ...(changes === undefined ? {} : { changes }),
    ...(signature === undefined ? {} : { signature }),
  };
  return { decision: word, actor, by, causeId, requestId, ...optional };
}

const decisionFields = ['decision', 'actor', 'by', 'causeId', 'requestId', 'runId', 'signature'] as const;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const changeName = /^[a-z][A-Za-z]{0,39}$/;
const mostChanges = 8;

/** Undefined where a name or an amount makes no sense: a decision is never carried out in part. */
function changesOf(sent: unknown, amountOf: (sent: unknown) => Cents | undefined): ApproverChanges | undefined {
  if (!isObject(sent) || Array.isArray(sent)) return undefined;
  const entries = Object.entries(sent).map(([name, amount]) => [name, amountOf(amount)] as const);
  const areKnown = entries.every(([name, amount]) => changeName.test(name) && amount !== undefined);
  if (!areKnown || entries.length > mostChanges) return undefined;
  return Object.fromEntries(entries.flatMap(([name, amount]) => (amount === undefined ? [] : [[name, amount]])));
}

const mostCents = 99_999_999_999;

function euros(sent: unknown): Cents | undefined {
  const amount = typeof sent === 'number' ? centsFromEuros(sent) : undefined;
  return amount === undefined || amount > mostCents ? undefined : amount;
}

const wholeCents = (sent: unknown): Cents | undefined =>
  typeof sent === 'number' && Number.isSafeInteger(sent) && sent >= 0 && sent <= mostCents ? cents(sent) : undefined;

/** A short printable name; free text does not enter a workflow. */
export function nameOf(by: unknown): string {
  if (typeof by !== 'string') return 'unnamed';
  const name = by
    .replace(/[^\p{L}\p{N} ._@+-]/gu, '')
    .trim()
    .slice(0, 60);
  return name === '' ? 'unnamed' : name;
}
