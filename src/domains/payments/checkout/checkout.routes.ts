/** Answers the checkout operations: ask the use case, shape the reply. No decision is made here. @module */
import type { Call } from '../../../http/caller.ts';
import type { ReachedId } from '../../../http/reaches.ts';
import type { Handlers } from '../../../http/route.ts';
import type { checkoutArea } from './checkout.contract.ts';
import { checkoutWire, type EndedCheckout } from './checkout.wire.ts';

export type CheckoutDeps = {
  /** Throws where nothing was held, and while the outcome is not known. */
  readonly execute: (order: { intentId: ReachedId<'intent'>; targetUrl: string }, call: Call) => Promise<EndedCheckout>;
  readonly confirm: (
    order: { intentId: ReachedId<'intent'> },
    call: Call,
  ) => Promise<{ intentId: string; transactionId: string }>;
};

export const checkoutHandlers = ({ execute, confirm }: CheckoutDeps): Handlers<typeof checkoutArea> => ({
  executeCheckout: async ({ body }, call) => checkoutWire(await execute(body, call)),

  confirmCheckout: async ({ body }, call) => ({ status: 'completed', ...(await confirm(body, call)) }),
});
