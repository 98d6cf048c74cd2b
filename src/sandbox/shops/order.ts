/**
 * A shop's orders and their payment: one token makes one authorization, also for repeated and concurrent requests. The
 * token's limits are checked here, as a network's token service would; Bursar decides whether the card may spend.
 * @module
 */
import { Refusal } from '../answer.ts';
import type { Authorizations } from '../network/authorization.ts';
import type { Outgoing } from '../network/outgoing.ts';
import type { Store } from '../store.ts';
import { newReference, sha256 } from '../wire.ts';
import type { Shop } from './shop-catalog.ts';

type OrderRow = { order_id: string; shop: string; amount_cents: number; authorization_id: string | null };
type PayRow = { order_id: string; token_hash: string; authorization_id: string | null; refusal: string | null };
type TokenRow = {
  token: string;
  card_ref: string;
  merchant_id: string;
  ceiling_cents: number;
  expires_at: string;
  authorization_id: string | null;
};
export type Payment = { orderId: string; paymentToken: string; key: string };
export type PaidOrder = { orderId: string; status: 'paid' | 'declined' } | 'stumbled';

const unpaidOrderLivesMs = 24 * 3_600_000;

export function createOrders(store: Store, authorizations: Authorizations, outgoing: Outgoing) {
  const orderOf = (shop: Shop, orderId: string): OrderRow => {
    const order = store.one<OrderRow>('SELECT * FROM orders WHERE order_id = ? AND shop = ?', orderId, shop.slug);
    if (order === undefined) throw new Refusal(404, `no order ${orderId} at ${shop.slug}`);
    return order;
  };

  /**
   * The authorization of this payment, stored before anything is sent; undefined when the token does not pay for it.
   */
  function begin(shop: Shop, payment: Payment): string | undefined {
    const order = orderOf(shop, payment.orderId);
    const tokenHash = sha256(payment.paymentToken);
    const prior = store.one<PayRow>('SELECT * FROM pays WHERE shop = ? AND pay_key = ?', shop.slug, payment.key);
    if (prior !== undefined) {
      if (prior.order_id === order.order_id && prior.token_hash === tokenHash)
        return prior.authorization_id ?? undefined;
      throw new Refusal(409, 'this Idempotency-Key belongs to another payment: use a new key');
    }
    const token = store.one<TokenRow>('SELECT * FROM tokens WHERE token = ?', payment.paymentToken);
    const isSamePayment = token?.authorization_id != null && token.authorization_id === order.authorization_id;
    if (!isSamePayment && isTaken(order))
      throw new Refusal(409, `order ${order.order_id} has been paid for another way`);
    const refusal = isSamePayment ? undefined : tokenRefusal(token, shop, order);
    const authorizationId =
      refusal !== undefined || token === undefined
        ? undefined
        : (isSamePayment && token.authorization_id) || authorize(shop, order, token);
    store.run(
      'INSERT INTO pays (shop, pay_key, order_id, token_hash, authorization_id, refusal) VALUES (?, ?, ?, ?, ?, ?)',
      shop.slug,
      payment.key,
      order.order_id,
      tokenHash,
      authorizationId ?? null,
      refusal ?? null,
    );
    return authorizationId;
  }

  const isTaken = (order: OrderRow): boolean =>
    order.authorization_id !== null && authorizations.find(order.authorization_id).state !== 'declined';

  function authorize(shop: Shop, order: OrderRow, token: TokenRow): string {
    const id = authorizations.place(
      {
        cardRef: token.card_ref,
        token: token.token,
        amountCents: order.amount_cents,
        merchant: shop.merchant,
        kind: 'purchase',
        partialSupported: false,
        recurring: false,
      },
      { clears: true },
    );
    store.run('UPDATE tokens SET authorization_id = ? WHERE token = ?', id, token.token);
    store.run('UPDATE orders SET authorization_id = ? WHERE order_id = ?', id, order.order_id);
    return id;
  }

  return {
    open(shop: Shop, amountCents: number): string {
      const orderId = newReference('ord');
      const nowMs = Date.now();
      store.inTransaction(() => {
        store.run(
          'DELETE FROM orders WHERE authorization_id IS NULL AND created_at_ms < ?',
          nowMs - unpaidOrderLivesMs,
        );
        store.run(
          'INSERT INTO orders (order_id, shop, amount_cents, created_at_ms) VALUES (?, ?, ?, ?)',
          orderId,
          shop.slug,
          amountCents,
          nowMs,
        );
      });
      return orderId;
    },

    async pay(shop: Shop, payment: Payment): Promise<PaidOrder> {
      const authorizationId = store.inTransaction(() => begin(shop, payment));
      if (authorizationId === undefined) return { orderId: payment.orderId, status: 'declined' };
      const { state } = await authorizations.decide(authorizationId);
      void outgoing.deliver(authorizationId); // The clearing is the network's business: the buyer does not wait for it.
      if (shop.stumblesOnce === true && stumbles(payment.orderId)) return 'stumbled';
      return { orderId: payment.orderId, status: state === 'approved' ? 'paid' : 'declined' };
    },
  };

  function stumbles(orderId: string): boolean {
    return store.run('UPDATE orders SET has_stumbled = 1 WHERE order_id = ? AND has_stumbled = 0', orderId) === 1;
  }
}
export type Orders = ReturnType<typeof createOrders>;

/**
 * Why the token does not pay for this order; undefined when it does. Stored with the payment, never sent to the shop.
 */
function tokenRefusal(token: TokenRow | undefined, shop: Shop, order: OrderRow): string | undefined {
  if (token === undefined) return 'unknown_token';
  if (token.authorization_id !== null) return 'token_used';
  if (token.merchant_id !== shop.merchant.id) return 'other_merchant';
  if (token.ceiling_cents < order.amount_cents) return 'over_ceiling';
  return Date.parse(token.expires_at) <= Date.now() ? 'token_expired' : undefined;
}
