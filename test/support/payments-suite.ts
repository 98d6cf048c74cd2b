/**
 * What most suites about card payments begin with, for one test file: an API, the card network as a signing client, and a
 * payer with money. Registers the hooks of the file; at its end the book and the records must agree.
 * @module
 */
import { afterAll, beforeAll, expect } from '@jest/globals';
import { aPayer, brokenInvariants, networkOf, type Payer } from './payments-world.ts';
import { startWorld, type World } from './world.ts';

export type Network = ReturnType<typeof networkOf>;
export type Payments = { readonly world: World; readonly network: Network; readonly payer: Payer };

export function usePayments(use: (started: Payments) => void): void {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
    use({ world, network: networkOf(world), payer: await aPayer(world) });
  });
  afterAll(async () => {
    expect(await brokenInvariants(world)).toEqual([]);
    await world.close();
  });
}
