/**
 * Goal: programs that we did not write pay at the merchant of docs/accepting.md and understand its discovery. Method: a
 * client of mppx with credentials minted by the API; the validators of mppx and Spectral over what the merchant serves.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type RulesetDefinition, Spectral } from '@stoplight/spectral-core';
import { oas } from '@stoplight/spectral-rulesets';
import { freePort } from '../../src/supervisor/ports.ts';
import { type CheckoutWorld, startCheckoutWorld } from '../support/checkout-world.ts';
import {
  type ExampleMerchant,
  type ExampleMerchantFolder,
  exampleMerchantFolder,
} from '../support/example-merchant.ts';
import { anIntent, brokenInvariants } from '../support/payments-world.ts';
import { installMppx, type MppxPeer, startMppxPeer } from './mppx/mppx.ts';

// The packages' own types do not fit each other.
const openApiRules = oas as unknown as RulesetDefinition;

let w: CheckoutWorld;
let folder: ExampleMerchantFolder;
let merchant: ExampleMerchant;
let peer: MppxPeer;

beforeAll(async () => {
  await installMppx();
  w = await startCheckoutWorld();
  folder = await exampleMerchantFolder({ BURSAR_URL: w.apiUrl, ACQUIRER_URL: w.sandboxUrl });
  const { merchant_secret_key: key } = await folder.register('invite-4711', (await w.world.owner()).key);
  merchant = await folder.start(await freePort(), { MERCHANT_KEY: key });
  peer = await startMppxPeer();
}, 180_000);
afterAll(async () => {
  await peer.close();
  await merchant.close();
  await folder.remove();
  expect(await brokenInvariants(w.world)).toEqual([]);
  await w.close();
});

test('a client of mppx buys the report, with a credential minted by the API', async () => {
  const payer = await w.payer({ fundsCents: 1_000 });
  const intentId = await anIntent(w.world, payer, { merchant: 'acme-reports', amountCents: 499 });
  const service = {
    origin: w.apiUrl,
    headers: {
      Authorization: `Bearer ${payer.token}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': randomUUID(),
    },
    intentId,
    cardId: payer.cardId,
  };
  const paid = await peer.ask<{ status: number; receipt: string }>('payByService', {
    url: `${merchant.origin}/report`,
    service,
  });
  expect(paid).toMatchObject({ status: 200, body: JSON.stringify({ report: 'paid content' }) });
  expect(await peer.ask('receipt', { value: paid.receipt })).toMatchObject({
    method: 'card',
    status: 'success',
    reference: expect.stringMatching(/^auth_/),
  });
});

const discovered = async (): Promise<Record<string, unknown>> =>
  (await (await fetch(`${merchant.origin}/openapi.json`)).json()) as Record<string, unknown>;

test('mppx and Spectral find nothing in what it publishes', async () => {
  const document = await discovered();
  expect(await peer.ask('discovery', { document })).toEqual([]);
  const linter = new Spectral();
  linter.setRuleset({ extends: [[openApiRules, 'recommended']], rules: { 'info-contact': 'off' } });
  const found = await linter.run(document);
  expect(found.map(({ code, path, message }) => `${code} at ${path.join('.')}: ${message}`)).toEqual([]);
});

test('mppx finds what is missing', async () => {
  const document = await discovered();
  const text = JSON.stringify(document);
  const undeclared = JSON.parse(text.replace('"402":', '"403":')) as object;
  expect(await peer.ask('discovery', { document: undeclared })).toEqual([
    expect.objectContaining({ severity: 'error', path: 'paths./report.get.responses' }),
  ]);
  const inEuros = JSON.parse(text.replace('"amount":"499"', '"amount":"4.99"')) as object;
  expect(await peer.ask('discovery', { document: inEuros })).not.toEqual([]);
});
