/**
 * What travels between the API, the worker and the intent workflow: names, ids and JSON-safe shapes; and the reading
 * of a decision that a person typed into a signal.
 * @module
 */
import { textsOf } from '../../../kernel/bounded.ts';
import type { Id } from '../../../kernel/ids.ts';
import { type Ignored, type Message, message } from '../../../kernel/message.ts';
import type { IntentStatus } from './intent.rules.ts';

export type IntentView = {
  readonly intentId: Id<'intent'>;
  readonly status: IntentStatus;
  readonly isMatched: boolean;
  /** ISO 8601, business time. */
  readonly expiresAt: string;
  readonly amountCents: number;
  readonly agentId: string;
  /** Set by the approver; an actor in words. */
  readonly approvedBy: string | null;
  /** How often, for one that is charged again and again. Absent in runs that are older than it. */
  readonly recurring?: string | null;
  /** The window that is current or next; ISO 8601, business time. */
  readonly window?: { readonly dueAt: string; readonly from: string; readonly to: string } | null;
};

/** A decision as the workflow receives it: the API settled who may decide, or a person typed it. */
export type IntentDecision = {
  readonly decision: 'approve' | 'deny' | 'cancel';
  readonly actor: 'key' | 'passkey' | 'signal';
  /** The approver's own id or name. */
  readonly by: string;
  readonly causeId: string;
  readonly requestId: string;
  /** `X-Service-Run-Id` of the request, where it named one. */
  readonly runId?: string;
  /** The API's seal over the rest (decision-signature.ts); a signal's has none. */
  readonly signature?: string;
};

export const intentWorkflowId = (id: Id<'intent'>): string => `intent/${id}`;
export const intentWorkflow = 'intentLifecycle';

/** The same name as update (the API's) and as signal (an approver's, from the Web UI or the CLI). */
export const decideIntent: Message<IntentView, IntentDecision> = message('decide');

export type TypedDecision = { readonly decision: IntentDecision['decision']; readonly by: string } | Ignored;

const words = ['approve', 'deny', 'cancel'] as const;

/**
 * Reads what somebody typed: `"approve"`, `{"decision":"deny","by":"anna"}`. Anything else is named, never thrown.
 */
export function parseDecision(typed: unknown): TypedDecision {
  const { decision, by } =
    typeof typed === 'object' && typed !== null
      ? (typed as Record<string, unknown>)
      : { decision: typed, by: undefined };
  const word = typeof decision === 'string' ? decision.trim().toLowerCase() : undefined;
  const known = words.find((candidate) => candidate === word);
  if (known === undefined) return { ignored: 'a signal that is not approve, deny or cancel was ignored' };
  return { decision: known, by: nameOf(by) };
}

/** What came as an update: the API's own decision as it is, anything else read as a signal of that id would be. */
export function decisionAsked(asked: unknown, updateId: string): IntentDecision | Ignored {
  const ofApi = decisionOfApi(asked);
  if (ofApi !== undefined) return ofApi;
  const parsed = parseDecision(asked);
  if ('ignored' in parsed) return { ignored: 'send {"decision":"approve","by":"your name"}; also "deny" and "cancel"' };
  const causeId = `update:${updateId}`.slice(0, 200);
  return { ...parsed, actor: 'signal', causeId, requestId: causeId };
}

/** Only the fields of a decision, each a short text; `signature` says whether it really comes from the API. */
function decisionOfApi(asked: unknown): IntentDecision | undefined {
  const { decision, actor, by, causeId, requestId, runId, signature } = textsOf(asked, decisionFields);
  const word = words.find((candidate) => candidate === decision);
  if (word === undefined || (actor !== 'key' && actor !== 'passkey')) return undefined;
  if (by === undefined || causeId === undefined || requestId === undefined) return undefined;
  const optional = { ...(runId === undefined ? {} : { runId }), ...(signature === undefined ? {} : { signature }) };
  return { decision: word, actor, by, causeId, requestId, ...optional };
}

const decisionFields = ['decision', 'actor', 'by', 'causeId', 'requestId', 'runId', 'signature'] as const;

/** A short printable name; free text does not enter a workflow. */
function nameOf(by: unknown): string {
  if (typeof by !== 'string') return 'unnamed';
  const name = by
    .replace(/[^\p{L}\p{N} ._@+-]/gu, '')
    .trim()
    .slice(0, 60);
  return name === '' ? 'unnamed' : name;
}
