/**
 * One authorization of the simulated network: stored before it is sent to Bursar, and its outcome stored with its
 * follow-ups. Where Bursar does not decide in time the stand-in decides: what it approves is reported by an advice, and
 * what it declines is reversed, as it may be held.
 * @module
 */
import type { pino } from 'pino';
import * as z from 'zod';
import type { MerchantCharge } from '../../domains/payments/network/merchant-charge.rules.ts';
import { Refusal } from '../answer.ts';
import type { Store } from '../store.ts';
import { type Merchant, newReference, parsedJson, sha256 } from '../wire.ts';
import type { BursarApi, NetworkAnswer } from './bursar-api.ts';
import { chargedAbroad } from './foreign-charge.ts';
import type { Outgoing } from './outgoing.ts';
import { type StandIn, standInRule } from './stand-in.ts';

export type AuthorizationOrder = MerchantCharge & {
  cardRef: string;
  token?: string | undefined;
  amountCents: number;
  merchant: Merchant;
  kind: 'purchase' | 'verification';
  partialSupported: boolean;
  recurring: boolean;
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
  standIn: StandIn;
  log: pino.Logger;
  decisionTimeoutMs: number;
  clearsAfterMs: (merchantId: string) => number | undefined;
};

export function createAuthorizations({
  store,
  bursar,
  outgoing,
  standIn,
  log,
  decisionTimeoutMs,
  clearsAfterMs,
}: Options) {
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
    const patienceMs = standIn.patienceMs(decisionTimeoutMs);
    const answer = await bursar.send('authorizations', row.body, patienceMs);
    const decision = readDecision(answer, body);
    if (decision === undefined) {
      decideAlone(row, body, { answer, patienceMs });
      return find(id); // Without reading Bursar's clock, which would take as long as Bursar is away.
    }
    store.inTransaction(() => conclude(row, body, decision));
    await outgoing.dateWaiting();
    return find(id);
  }

  /** `before`: what is to be sent ahead of the clearing. */
  function conclude(row: AuthorizationRow, body: AuthorizationBody, decision: Decision, before = () => {}): void {
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
    if (concluded === 0) return; // Nothing follows twice from one authorization.
    before();
    if (!clears) return;
    const { cardRef, merchant } = body;
    const { approvedCents: amountCents } = decision;
    const clearing = { cardRef, amountCents, ...chargedAbroad(body, amountCents), final: true, merchant };
    outgoing.enqueue('clearings', row.id, clearing, clearsAfterMs(merchant.id));
  }

  type Unanswered = { answer: NetworkAnswer | undefined; patienceMs: number };

  function decideAlone(row: AuthorizationRow, body: AuthorizationBody, { answer, patienceMs }: Unanswered): void {
    const why = answer === undefined ? `no answer within ${patienceMs} ms` : `no decision in a ${answer.status}`;
    const isApproved = store.inTransaction(() => {
      const approves = standIn.approves(body);
      const reason = `${why}: the network's stand-in rule ${approves ? 'approves' : 'declines'}`;
      const approvedCents = approves ? body.amountCents : 0;
      const decision = approves ? ('approved' as const) : ('declined' as const);
      conclude(row, body, { decision, approvedCents, rule: standInRule, reason }, () => {
        if (approves) outgoing.enqueue('advices', row.id, { authorization: body, approvedCents });
        else outgoing.enqueue('reversals', row.id, { cardRef: row.card_ref });
      });
      return approves;
    });
    const said = { authorizationId: row.id, status: answer?.status };
    if (isApproved) log.warn(said, 'stand-in approved; an advice is queued');
    else log.warn(said, 'stand-in declined; a reversal is queued');
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

type Question = Pick<AuthorizationBody, 'amountCents' | 'partialSupported'>;

/** Undefined for whatever is not a decision that a network can act on. */
export function readDecision(answer: NetworkAnswer | undefined, question: Question): Decision | undefined {
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
