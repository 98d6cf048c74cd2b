/**
 * What the network decides in Bursar's place while no answer comes: it approves up to a limit per card and reports
 * each approval by an advice; what was reported counts no more. Without a limit, the default, it declines.
 * @module
 */
import type { Store } from '../store.ts';

export const standInRule = 'stand_in';

type Question = {
  readonly cardRef: string;
  readonly amountCents: number;
  readonly kind: 'purchase' | 'verification';
  readonly token?: string | undefined;
  readonly simulation?: string | undefined;
};

/** While Bursar is away it is asked nevertheless, but the merchant does not wait for it. */
const patienceWhileAwayMs = 50;

export function createStandIn(store: Store, { isAway }: { isAway: () => boolean }) {
  const perCardCents = (): number =>
    store.one<{ value: number }>(`SELECT value FROM settings WHERE name = 'stand_in_per_card_cents'`)?.value ?? 0;

  /** Approved for this card, and not reported to Bursar yet. */
  const openCents = (cardRef: string): number =>
    store.one<{ cents: number }>(
      `SELECT coalesce(sum(a.approved_cents), 0) AS cents FROM authorizations a
       JOIN outgoing o ON o.authorization_id = a.id AND o.kind = 'advices' AND o.state = 'queued'
       WHERE a.card_ref = ?`,
      cardRef,
    )?.cents ?? 0;

  const isActive = (cardRef: string): boolean =>
    store.one(`SELECT 1 AS found FROM cards WHERE card_ref = ? AND state = 'active'`, cardRef) !== undefined;

  return {
    limit: perCardCents,
    setLimit: (cents: number): void => {
      store.run(
        `INSERT INTO settings (name, value) VALUES ('stand_in_per_card_cents', ?)
         ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
        cents,
      );
    },
    patienceMs: (usualMs: number): number =>
      isAway() && perCardCents() > 0 ? Math.min(usualMs, patienceWhileAwayMs) : usualMs,
    /** Inside the transaction that records the decision. Only Bursar knows whether a token, or its own request, pays. */
    approves: ({ cardRef, amountCents, kind, token, simulation }: Question): boolean =>
      kind === 'purchase' &&
      token === undefined &&
      simulation === undefined &&
      isActive(cardRef) &&
      openCents(cardRef) + amountCents <= perCardCents(),
  };
}
export type StandIn = ReturnType<typeof createStandIn>;
