/**
 * One authorization of the simulated network: stored before it is sent to Bursar, and its outcome stored with its
 * follow-ups. Where Bursar does not decide in time the stand-in rule applies: decline, and reverse any hold.
 * @module
 */
import type { pino } from 'pino';
import * as z from 'zod';
import { Refusal } from '../answer.ts';
import type { Store } from '../store.ts';
import { type Merchant, newReference, parsedJson, sha256 } from '../wire.ts';
import type { BursarApi, NetworkAnswer } from './bursar-api.ts';
import type { Outgoing } from './outgoing.ts';

export type AuthorizationOrder = {
  cardRef: string;
  token?: string | undefined;
  amountCents: number;
  merchant: Merchant;
  kind: 'purchase' | 'verification';
  partialSupported: boolean;
  recurring: boolean;
  merchantAmount?: number | undefined;
  merchantCurrency?: string | undefined;
  expiresAt?: string | undefined;
  /** The request by Bursar, which the answer repeats. */
  simulation?: string | undefined;
};
export type AuthorizationBody = AuthorizationOrder & { id: string; currency: 'EUR'; sentAt: string };
export type AuthorizationRow = {
  id: string;
  card_ref: string;
  request_hash: string;
  body: string;
  clears: 0 | 1;
  state: 'sent' | 'approved' | 'partial' | 'declined';
  approved_cents: number;
  cleared_cents: number;
  reversed_cents: number;
  transaction_id: string | null;
  rule: string | null;
  reason: string | null;
};

export const standInRule = 'stand_in';
const Decision = z.object({
  decision: z.enum(['approved', 'partial', 'declined']),
  approvedCents: z.number().int().nonnegative(),
  transactionId: z.string().nullish(),
  rule: z.string().nullish(),
  reason: z.string().nullish(),
});
type Decision = z.infer<typeof Decision>;

type Options = {
  store: Store;
  bursar: BursarApi;
  outgoing: Outgoing;
  log: pino.Logger;
  decisionTimeoutMs: number;
  clearsAfterMs: (merchantId: string) => number | undefined;
};

export function createAuthorizations({ store, bursar, outgoing, log, decisionTimeoutMs, clearsAfterMs }: Options) {
  const underWay = new Map<string, Promise<AuthorizationRow>>();

  const find = (id: string): AuthorizationRow => {
    const row = store.one<AuthorizationRow>('SELECT * FROM authorizations WHERE id = ?', id);
    if (row === undefined) throw new Refusal(404, `no authorization ${id}`);
    return row;
  };

  /** To be called inside a transaction; nothing is sent yet. `key` makes a repeat find the same authorization. */
  function place(order: AuthorizationOrder, { clears, key }: { clears: boolean; key?: string | undefined }): string {
    const requestHash = sha256(JSON.stringify([order, clears]));
    const known = key === undefined ? undefined : knownByKey(key);
    if (known !== undefined) {
      if (known.request_hash === requestHash) return known.id;
      throw new Refusal(422, 'this Idempotency-Key belongs to another purchase: use a new key');
    }
    const id = newReference('auth');
    const body: AuthorizationBody = { id, ...order, currency: 'EUR', sentAt: new Date().toISOString() };
    store.run(
      `INSERT INTO authorizations (id, purchase_key, request_hash, card_ref, body, clears, state)
       VALUES (?, ?, ?, ?, ?, ?, 'sent')`,
      id,
      key ?? null,
      requestHash,
      order.cardRef,
      JSON.stringify(body),
      clears ? 1 : 0,
    );
    return id;
  }

  const knownByKey = (key: string): AuthorizationRow | undefined =>
    store.one<AuthorizationRow>('SELECT * FROM authorizations WHERE purchase_key = ?', key);

  /** The stored outcome; without one, asks Bursar. Callers in parallel share one question. */
  function decide(id: string): Promise<AuthorizationRow> {
    const question = underWay.get(id) ?? ask(id).finally(() => underWay.delete(id));
    underWay.set(id, question);
    return question;
  }

  async function ask(id: string): Promise<AuthorizationRow> {
    const row = find(id);
    if (row.state !== 'sent') return row;
    const body = JSON.parse(row.body) as AuthorizationBody;
    const answer = await bursar.send('authorizations', row.body, decisionTimeoutMs);
    const decision = readDecision(answer, body);
    if (decision === undefined) standIn(row, answer);
    else store.inTransaction(() => conclude(row, body, decision));
    await outgoing.dateWaiting();
    return find(id);
  }

  function conclude(row: AuthorizationRow, body: AuthorizationBody, decision: Decision): void {
    const clears = row.clears === 1 && decision.approvedCents > 0;
    const concluded = store.run(
      `UPDATE authorizations SET state = ?, approved_cents = ?, cleared_cents = ?, transaction_id = ?, rule = ?, reason = ?
       WHERE id = ? AND state = 'sent'`,
      decision.decision,
      decision.approvedCents,
      clears ? decision.approvedCents : 0,
      decision.transactionId ?? null,
      decision.rule ?? null,
      decision.reason ?? null,
      row.id,
    );
    if (!clears || concluded === 0) return; // Nothing follows twice from one authorization.
    const { cardRef, merchant } = body;
    const clearing = { cardRef, amountCents: decision.approvedCents, final: true, merchant };
    outgoing.enqueue('clearings', row.id, clearing, clearsAfterMs(merchant.id));
  }

  function standIn(row: AuthorizationRow, answer: NetworkAnswer | undefined): void {
    const why = answer === undefined ? `no answer within ${decisionTimeoutMs} ms` : `no decision in a ${answer.status}`;
    store.inTransaction(() => {
      const concluded = store.run(
        `UPDATE authorizations SET state = 'declined', rule = ?, reason = ? WHERE id = ? AND state = 'sent'`,
        standInRule,
        `${why}: the network's stand-in rule declines`,
        row.id,
      );
      if (concluded > 0) outgoing.enqueue('reversals', row.id, { cardRef: row.card_ref });
    });
    log.warn({ authorizationId: row.id, status: answer?.status }, 'stand-in declined; a reversal is queued');
  }

  return {
    find,
    place,
    decide,
    /** After a start: what was sent and never answered is asked again under the same id. */
    async resume(isStopping: () => boolean): Promise<void> {
      const open = store.all<{ id: string }>(`SELECT id FROM authorizations WHERE state = 'sent' ORDER BY rowid`);
      for (const { id } of open) {
        if (isStopping()) return;
        await decide(id);
      }
    },
  };
}
export type Authorizations = ReturnType<typeof createAuthorizations>;

/** Undefined for whatever is not a decision that a network can act on. */
function readDecision(answer: NetworkAnswer | undefined, question: AuthorizationBody): Decision | undefined {
  if (answer?.status !== 200) return undefined;
  const result = Decision.safeParse(parsedJson(answer.text));
  if (!result.success) return undefined;
  const { decision, approvedCents } = result.data;
  const isSound = {
    approved: approvedCents === question.amountCents,
    partial: question.partialSupported && approvedCents > 0 && approvedCents < question.amountCents,
    declined: approvedCents === 0,
  }[decision];
  return isSound ? result.data : undefined;
}
