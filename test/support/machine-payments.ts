/**
 * Machine payments whole, for one test file: API, worker, sandbox, a merchant that the test plays, and the card network
 * as a signing client. Registers the hooks of the file; at its end the book and the records must agree.
 * @module
 */
import { afterAll, beforeAll, beforeEach, expect } from '@jest/globals';
import { type CheckoutWorld, startCheckoutWorld } from './checkout-world.ts';
import { type PayingMerchant, startMerchant } from './paying-merchant.ts';
import { brokenInvariants, networkOf } from './payments-world.ts';

export type MachinePayments = {
  readonly w: CheckoutWorld;
  /** As at its start before each test. */
  readonly merchant: PayingMerchant;
  readonly network: ReturnType<typeof networkOf>;
};

export function useMachinePayments(use: (started: MachinePayments) => void): void {
  let w: CheckoutWorld;
  let merchant: PayingMerchant;
  beforeAll(async () => {
    merchant = await startMerchant();
    w = await startCheckoutWorld({ allowedOrigins: [merchant.origin, otherNameOf(merchant)] });
    use({ w, merchant, network: networkOf({ apiUrl: w.apiUrl, networkKey: w.world.networkKey }) });
  });
  afterAll(async () => {
    expect(await brokenInvariants(w.world)).toEqual([]);
    await w.close();
    await merchant.close();
  });
  beforeEach(() => merchant.reset());
}

/** The same merchant under another host. */
export const otherNameOf = ({ origin }: PayingMerchant): string => origin.replace('127.0.0.1', 'localhost');
