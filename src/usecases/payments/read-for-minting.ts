/**
 * Reads in one statement what the evaluation of a payment challenge needs besides intent and spending, and what the
 * minting that follows it needs again: the card, the owner's protection rules, and the registered merchants of the
 * recipient and of the key. Decides nothing.
 * @module
 */
import * as z from 'zod';
import { jsonInstant } from '../../db/column-row.ts';
import { idValue } from '../../db/row-values.ts';
import { firstRowOf } from '../../db/statement.ts';
import type { Tx } from '../../db/tx.ts';
import type { CardOnRecord } from '../../domains/cards/cards/card.queries.ts';
import { heldKeyOf, thumbprintOf } from '../../domains/merchants/merchants/merchant-key.queries.ts';
import type { ChargeRequest } from '../../domains/payments/mpp/challenge.wire.ts';
import { readEncryptionKey } from '../../domains/payments/mpp/encryption-key.rules.ts';
import type { IntentRow } from '../../domains/spending/intents/intent.entity.ts';
import { type ProtectRule, protectRuleTypes } from '../../domains/spending/protect-rules/protect-rule.rules.ts';
import type { MerchantsOfCharge } from './merchant-of-charge.ts';

export type ReadForMinting = {
  readonly card: CardOnRecord;
  /** Of the owner, for the agent. */
  readonly rules: readonly ProtectRule[];
  /** Undefined where the challenge does not carry its key. */
  readonly merchants: MerchantsOfCharge | undefined;
  /** That the challenge claims to be of, before the key is known to be the merchant's; null for an unregistered one. */
  readonly claimed: MerchantsOfCharge['named'];
};

const merchant = { id: idValue('merchant'), slug: z.string() };

const found = z.object({
  cardRef: z.string(),
  brand: z.string(),
  last4: z.string(),
  expiryMonth: z.int(),
  expiryYear: z.int(),
  rules: z.array(
    z.object({
      id: idValue('protectRule'),
      agentId: z.string().nullable(),
      type: z.enum(protectRuleTypes),
      merchant: z.string(),
    }),
  ),
  named: z.object(merchant).nullable(),
  holder: z
    .object({
      ...merchant,
      status: z.string(),
      provenAt: jsonInstant.nullable(),
      validUntil: jsonInstant.nullable(),
    })
    .nullable(),
});

const statement = `
  select c.card_ref as "cardRef", c.brand, c.last4, c.expiry_month as "expiryMonth", c.expiry_year as "expiryYear",
    (select coalesce(jsonb_agg(jsonb_build_object('id', r.id, 'agentId', r.agent_id, 'type', r.type, 'merchant', r.merchant)), '[]')
       from protect_rules r where r.owner_id = $2 and (r.agent_id is null or r.agent_id = $3)) as rules,
    (select jsonb_build_object('id', m.id, 'slug', m.slug)
       from merchants m where (m.id = $4 or m.slug = $4) and m.status = 'active' limit 1) as named,
    (select jsonb_build_object('id', m.id, 'slug', m.slug, 'status', m.status, 'provenAt', k.proven_at,
         'validUntil', k.valid_until)
       from merchant_encryption_keys k join merchants m on m.id = k.merchant_id
       where k.thumbprint = $5 and k.proven_at is not null limit 1) as holder
  from cards c where c.id = $1 and not c.is_provisioning`;

export async function readForMinting(
  tx: Tx,
  { cardId, ownerId, agentId }: Pick<IntentRow, 'cardId' | 'ownerId' | 'agentId'>,
  { recipient, key }: Pick<ChargeRequest, 'recipient' | 'key'>,
): Promise<ReadForMinting> {
  const reading = key.kind === 'embedded' ? readEncryptionKey(key.jwk) : undefined;
  const thumbprint = reading?.ok === true ? await thumbprintOf(reading.jwk) : null;
  const row = await firstRowOf(tx, found, statement, [cardId, ownerId, agentId, recipient ?? null, thumbprint]);
  if (row === undefined) throw new Error(`no card ${cardId}`);
  const { rules, named, holder, ...card } = row;
  const held = heldKeyOf(holder, new Date());
  const merchants = thumbprint === null ? undefined : { named, held };
  return { card, rules, merchants, claimed: named ?? held?.merchant ?? null };
}
