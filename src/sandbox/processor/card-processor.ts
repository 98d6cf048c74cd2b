/**
 * The simulated card processor: issues cards, keeps their state, mints one-time payment tokens. It decides nothing
 * about spending: the network asks Bursar about every card, whatever its state here.
 * @module
 */
import { randomBytes } from 'node:crypto';
import { Refusal } from '../answer.ts';
import type { Store } from '../store.ts';
import { newReference } from '../wire.ts';
import { deriveTestNumber } from './card-number.ts';

export type CardState = 'active' | 'frozen' | 'closed';
type Usage = 'single' | 'multi';

export type CardRow = {
  card_ref: string;
  card_id: string;
  usage: Usage;
  state: CardState;
  last4: string;
  expiry_month: number;
  expiry_year: number;
};
type TokenRow = { token: string; card_ref: string; merchant_id: string; ceiling_cents: number; expires_at: string };

const longestTokenMs = 24 * 3_600_000;
const validYears = 3;

export function createCardProcessor(store: Store) {
  const cardOf = (cardRef: string): CardRow => {
    const card = store.one<CardRow>('SELECT * FROM cards WHERE card_ref = ?', cardRef);
    if (card === undefined) throw new Refusal(404, `no card ${cardRef}`);
    return card;
  };

  return {
    cardOf,

    /** The card that carries this id of the cardholder's system; of several, the newest. */
    cardByCardId(cardId: string): CardRow {
      const card = store.one<CardRow>('SELECT * FROM cards WHERE card_id = ? ORDER BY rowid DESC LIMIT 1', cardId);
      if (card === undefined) throw new Refusal(404, `no card for cardId ${cardId}`);
      return card;
    },

    /** The token is a secret, so a refusal does not repeat it. */
    cardOfToken(token: string): CardRow {
      const known = store.one<TokenRow>('SELECT * FROM tokens WHERE token = ?', token);
      if (known === undefined) throw new Refusal(404, 'no such payment token');
      return cardOf(known.card_ref);
    },

    issue(key: string, order: { cardId: string; usage: Usage }): CardRow {
      return store.inTransaction(() => {
        const known = store.one<CardRow>('SELECT * FROM cards WHERE issue_key = ?', key);
        if (known !== undefined) return sameOrder(known, order);
        const cardRef = newReference('pc');
        const now = new Date();
        store.run(
          `INSERT INTO cards (card_ref, issue_key, card_id, usage, state, last4, expiry_month, expiry_year)
           VALUES (?, ?, ?, ?, 'active', ?, ?, ?)`,
          cardRef,
          key,
          order.cardId,
          order.usage,
          deriveTestNumber(cardRef).slice(-4),
          now.getUTCMonth() + 1,
          now.getUTCFullYear() + validYears,
        );
        return cardOf(cardRef);
      });
    },

    setState(cardRef: string, state: CardState): CardRow {
      return store.inTransaction(() => {
        const card = cardOf(cardRef);
        if (card.state === 'closed' && state !== 'closed') throw new Refusal(409, `card ${cardRef} is closed for good`);
        store.run('UPDATE cards SET state = ? WHERE card_ref = ?', state, cardRef);
        return { ...card, state };
      });
    },

    /** The expiry is not compared on a repeat: a retry computes it anew, and the first one stands. */
    mint(
      key: string,
      order: { cardRef: string; merchantId: string; ceilingCents: number; expiresAt: string },
    ): TokenRow {
      return store.inTransaction(() => {
        const known = store.one<TokenRow>('SELECT * FROM tokens WHERE mint_key = ?', key);
        if (known !== undefined) return sameMint(known, order);
        if (cardOf(order.cardRef).state === 'closed')
          throw new Refusal(409, `card ${order.cardRef} is closed for good`);
        const token = `spt_${randomBytes(24).toString('hex')}`;
        const expiresAt = withinADay(order.expiresAt);
        store.run(
          'INSERT INTO tokens (token, mint_key, card_ref, merchant_id, ceiling_cents, expires_at) VALUES (?, ?, ?, ?, ?, ?)',
          token,
          key,
          order.cardRef,
          order.merchantId,
          order.ceilingCents,
          expiresAt,
        );
        return {
          token,
          card_ref: order.cardRef,
          merchant_id: order.merchantId,
          ceiling_cents: order.ceilingCents,
          expires_at: expiresAt,
        };
      });
    },
  };
}
export type SandboxCardProcessor = ReturnType<typeof createCardProcessor>;

function sameOrder(known: CardRow, order: { cardId: string; usage: Usage }): CardRow {
  if (known.card_id === order.cardId && known.usage === order.usage) return known;
  throw new Refusal(422, 'this Idempotency-Key issued another card: use a new key');
}

function sameMint(known: TokenRow, order: { cardRef: string; merchantId: string; ceilingCents: number }): TokenRow {
  const same =
    known.card_ref === order.cardRef &&
    known.merchant_id === order.merchantId &&
    known.ceiling_cents === order.ceilingCents;
  if (same) return known;
  throw new Refusal(422, 'this Idempotency-Key minted a token for another payment: use a new key');
}

function withinADay(expiresAt: string): string {
  const aheadMs = Date.parse(expiresAt) - Date.now();
  if (aheadMs <= 0) throw new Refusal(400, `expiresAt ${expiresAt} has passed`);
  if (aheadMs > longestTokenMs) throw new Refusal(400, `expiresAt ${expiresAt} is more than 24 hours ahead`);
  return new Date(expiresAt).toISOString();
}
