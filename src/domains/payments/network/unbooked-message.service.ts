/**
 * Messages that contradict their authorization, and those of an unknown card, as an operator sees and settles
 * them. Each is settled once: what was assigned or dismissed stays so. Nothing is booked here.
 * @module
 */
import * as z from 'zod';
import { columnRow } from '../../../db/column-row.ts';
import { rowsOf, runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { DomainError } from '../../../kernel/errors.ts';
import type { Cause } from '../../../platform/cause.ts';

const kinds = z.enum(['clearing', 'reversal', 'refund', 'advice']);

const unbooked = columnRow({
  adapter: z.string(),
  kind: kinds,
  id: z.string(),
  reason: z.string(),
  authorizationId: z.string().nullable(),
  transactionId: z.string().nullable(),
  cardRef: z.string(),
  amountCents: z.number().nullable(),
  currency: z.string(),
  receivedAt: z.date(),
});
export type UnbookedMessage = z.output<typeof unbooked>;

/** Oldest first. */
export const unbookedMessages = (tx: Tx): Promise<UnbookedMessage[]> =>
  rowsOf(
    tx,
    unbooked,
    `select adapter, kind, id, reason, authorization_id, transaction_id, card_ref, amount_cents::float8 as amount_cents,
       currency, received_at
     from unbooked_network_messages order by received_at, adapter, kind, id`,
  );

const unsettled = columnRow({
  adapter: z.string(),
  kind: kinds,
  id: z.string(),
  authorizationId: z.string().nullable(),
  cardRef: z.string(),
  body: z.record(z.string(), z.unknown()),
  unbookedReason: z.enum(['other_card', 'other_currency', 'unknown_card']),
  settledAs: z.enum(['assigned', 'dismissed']).nullable(),
  transactionId: z.string().nullable(),
});
export type UnsettledMessage = z.output<typeof unsettled>;

/** `adapter` where several networks have a message with this id. */
export type MessageName = { readonly kind: string; readonly id: string; readonly adapter?: string | undefined };

/** Takes the place of its authorization in the queue, so that it is settled once. */
export async function lockUnsettled(tx: Tx, { kind, id, adapter }: MessageName): Promise<UnsettledMessage> {
  const read = (): Promise<UnsettledMessage[]> =>
    rowsOf(
      tx,
      unsettled,
      `select adapter, kind, id, authorization_id, card_ref, body, unbooked_reason, settled_as, transaction_id
       from network_messages
       where kind = $1 and id = $2 and unbooked_reason is not null and ($3::text is null or adapter = $3)`,
      [kind, id, adapter ?? null],
    );
  const [one, ...others] = await read();
  if (one === undefined)
    throw new DomainError('not_found', `no ${kind} ${id} is kept for an operator: see \`bursar network messages\``);
  if (others.length > 0) {
    const names = [one, ...others].map((found) => `${found.adapter}/${kind}/${id}`).join(', ');
    throw new DomainError('invalid_request', `several networks sent ${kind} ${id}: name one of ${names}`);
  }
  await runSql(tx, 'select lock_authorization($1, $2)', [one.adapter, one.authorizationId ?? `${kind}/${id}`]);
  const [locked = one] = await read();
  return locked;
}

type Settled = {
  readonly as: 'assigned' | 'dismissed';
  readonly reason: string;
  /** That it was booked on. The network's next repeat is answered with it. */
  readonly transactionId: string | null;
};

export async function settleMessage(
  tx: Tx,
  { adapter, kind, id }: UnsettledMessage,
  { as, reason, transactionId }: Settled,
  { at }: Cause,
): Promise<void> {
  await runSql(
    tx,
    `update network_messages set settled_as = $4, settled_reason = $5, settled_at = $6, is_waiting = false,
       transaction_id = $7::text,
       answer = case when $7::text is null then answer else jsonb_build_object('transactionId', $7::text) end
     where adapter = $1 and kind = $2 and id = $3 and settled_as is null`,
    [adapter, kind, id, as, reason, at, transactionId],
  );
}
