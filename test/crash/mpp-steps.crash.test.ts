/**
 * Goal: at each step of a machine payment the worker may die, Temporal may lose its database, and the clocks may be ten
 * minutes apart; an intent is paid once at most, the owner sees each charge, and each run comes to its end. Method: a
 * whole installation; its own steps bring each payment into its state, where PostgreSQL keeps it (`mpp-stops.ts`).
 * @module
 */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Installation, startInstallation } from '../support/installation.ts';
import { type PayingMerchant, startMerchant } from '../support/paying-merchant.ts';
import { untilAnswered } from '../support/plain-calls.ts';
import { type Clocks, openClocks, type Skew } from '../support/skewed-clocks.ts';
import { eventually } from '../support/world.ts';
import { type Buyer, type Buyers, openBuyers } from './mpp-buyers.ts';
import { type MppStops, openMppStops, type StoppedAt } from './mpp-stops.ts';

const minute = 60_000;

let site: Installation;
let merchant: PayingMerchant;
let stops: MppStops;
let buyers: Buyers;
let clocks: Clocks;

beforeAll(async () => {
  [merchant, clocks] = [await startMerchant(), await openClocks()];
  site = await startInstallation({ BURSAR_ALLOWED_ORIGINS: merchant.origin, ...clocks.env });
  stops = await openMppStops(site);
  buyers = await openBuyers(site, merchant);
}, 300_000);
afterAll(async () => {
  await site?.stop();
  await merchant?.close();
  await clocks?.remove();
}, 60_000);
beforeEach(() => merchant.reset());

describe('a worker that is killed', () => {
  test('between the mint of the processor and the commit: one token, one payment, also where the agent mints', async () => {
    const [payer, minter] = [await buyers.aBuyer('minted-for-pay'), await buyers.aBuyer('minted-for-agent')];
    buyers.sellsTo([payer, minter]);
    for (const { intentId } of [payer, minter]) await stops.waits(intentId, 'credential minted');
    const challenge = merchant.challenge({ id: 'ch-of-the-agent' });
    const order = { challenge, intentId: minter.intentId, cardId: minter.cardId };
    const mint = () => buyers.call('POST', '/v1/mpp/credentials/mint', order, 'minted-for-agent');
    const first = [payer.pay(), mint()];
    await stops.areWaiting(2);
    const minted = [...(await buyers.tokensOf(payer)), ...(await buyers.tokensOf(minter))];
    expect(minted).toHaveLength(2);
    await site.kill('worker');
    await stops.end();
    await Promise.all(first);

    expect(await untilAnswered(payer.pay)).toMatchObject({ status: 200, body: { status: 'paid' } });
    const credential = await untilAnswered(mint);
    expect(credential).toMatchObject({ status: 201, body: { header: 'Authorization' } });
    const presented = await fetch(`${merchant.origin}/${minter.name}`, {
      headers: { Authorization: `Payment ${credential.body.credential}` },
    });
    expect(presented.status).toBe(200);
    expect([...(await buyers.tokensOf(payer)), ...(await buyers.tokensOf(minter))]).toEqual(minted);
    expect(merchant.presentations.map(({ paymentToken }) => paymentToken).sort()).toEqual([...minted].sort());
    expect(await buyers.wrong([payer, minter])).toEqual([]);
  }, 240_000);

  test('between sending and the answer: nothing is sent again, and the charge or an operator settles it', async () => {
    const before = await buyers.aBuyer('charged-before');
    const after = await buyers.aBuyer('charged-after');
    const never = await buyers.aBuyer('charged-never');
    const all = [before, after, never];
    const isKilled = Promise.withResolvers<void>();
    buyers.sellsTo(all, ({ name }) => ({ charges: name === before.name, until: isKilled.promise }));
    const first = all.map(({ pay }) => pay());
    await eventually(
      async () => merchant.presentations.length,
      (count) => count === 3,
    );
    const [tokenAfter = ''] = await buyers.tokensOf(after);
    await eventually(
      () => site.sql(`select 1 from mpp_payments where charge_outcome = 'approved' and status = 'presenting'`),
      (found) => found.length === 1,
    );
    await site.kill('worker');
    isKilled.resolve();
    for (const answer of await Promise.all(first)) expect([200, 503]).toContain(answer.status);
    await buyers.become(before, 'paid');
    await buyers.become(after, 'unknown');
    await buyers.become(never, 'unknown');
    for (const { payAnew } of all) expect(await payAnew()).toMatchObject({ status: 400 });
    expect((await buyers.charge(after, tokenAfter)).decision).toBe('approved');
    await buyers.become(after, 'paid');
    const [open] = await buyers.paymentsOf(never);
    expect(await buyers.operatorResolves(open?.id ?? '', 'not-paid')).toBe(200);
    await buyers.become(never, 'not_paid');
    expect(all.map(buyers.presentationsOf)).toEqual([1, 1, 1]);
    expect(await buyers.wrong(all)).toEqual([]);
  }, 240_000);
});

describe("Temporal's database is lost", () => {
  const settled: readonly StoppedAt[] = ['accepted', 'unknown', 'paid', 'declined'];
  /** The state in which each payment is when the database is lost, what keeps it there, and its end. */
  const lost: readonly {
    readonly name: string;
    readonly status: string;
    readonly stops: readonly StoppedAt[];
    readonly end: string;
    readonly presented: number;
  }[] = [
    { name: 'requested', status: 'requested', stops: ['challenged'], end: 'paid', presented: 1 },
    { name: 'allowed', status: 'allowed', stops: ['minted'], end: 'paid', presented: 1 },
    { name: 'minted', status: 'minted', stops: ['presenting'], end: 'paid', presented: 1 },
    { name: 'sending', status: 'presenting', stops: settled, end: 'paid', presented: 1 },
    { name: 'sending-uncharged', status: 'presenting', stops: settled, end: 'unknown', presented: 1 },
    { name: 'accepted', status: 'accepted', stops: [], end: 'accepted', presented: 1 },
    { name: 'unknown', status: 'unknown', stops: [], end: 'unknown', presented: 1 },
  ];

  test('with a payment in each state: each run returns, each intent is paid once at most, and no charge is hidden', async () => {
    const all = await Promise.all(lost.map(({ name }) => buyers.aBuyer(name)));
    const named = (name: string) => all.find((one) => one.name === name) as Buyer;
    const isAnswering = Promise.withResolvers<void>();
    const uncharged = ['sending-uncharged', 'accepted', 'unknown'];
    buyers.sellsTo(all, ({ name }) => ({
      charges: !uncharged.includes(name),
      ...(name === 'unknown' ? { until: isAnswering.promise } : {}),
    }));
    for (const { name, stops: places } of lost) await stops.fails(named(name).intentId, ...places);
    const asked = all.map(({ pay }) => pay());
    const statuses = async () =>
      Object.fromEntries(
        await Promise.all(all.map(async (one) => [one.name, (await buyers.paymentsOf(one))[0]?.status] as const)),
      );
    const wanted = Object.fromEntries(lost.map(({ name, status }) => [name, status]));
    await eventually(statuses, (found) => Object.entries(wanted).every(([name, status]) => found[name] === status));
    const epochs = await site.sql<{ epoch: string }>(
      'select distinct started_epoch as epoch from workflow_runs where is_open and started_epoch is not null',
    );

    const release = await site.holdDown('temporal');
    try {
      for (const end of ['', '-wal', '-shm']) await rm(join(site.dir, `temporal.db${end}`), { force: true });
      await Promise.all(asked);
      expect(await statuses()).toEqual(wanted);
      for (const { payAnew } of all) expect(await payAnew()).toMatchObject({ status: 400 });
    } finally {
      await stops.end();
      isAnswering.resolve();
      await release();
    }
    await Promise.all(lost.map(({ name, end }) => buyers.become(named(name), end)));
    expect(existsSync(join(site.dir, 'temporal.db'))).toBe(true);
    const open = await eventually(
      () =>
        site.sql<{ id: string; epoch: string | null }>(
          `select id, started_epoch as epoch from workflow_runs where is_open and workflow = 'mppPayment'`,
        ),
      (found) => found.every(({ epoch }) => epoch !== null && epochs.every((one) => one.epoch !== epoch)),
    );
    expect(open).toHaveLength(3);
    expect(Object.fromEntries(all.map((one) => [one.name, buyers.presentationsOf(one)]))).toEqual(
      Object.fromEntries(lost.map(({ name, presented }) => [name, presented])),
    );
    expect(await buyers.wrong(all)).toEqual([]);

    // The runs that came back still hear: of a late charge, of an operator, and of the time.
    const [token = ''] = await buyers.tokensOf(named('accepted'));
    expect((await buyers.charge(named('accepted'), token)).decision).toBe('approved');
    await buyers.become(named('accepted'), 'paid');
    const [payment] = await buyers.paymentsOf(named('unknown'));
    expect(await buyers.operatorResolves(payment?.id ?? '', 'not-paid')).toBe(200);
    await buyers.become(named('unknown'), 'not_paid');
    await site.advance(8 * 24 * 60 * minute);
    await buyers.become(named('sending-uncharged'), 'not_paid');
    expect(await buyers.wrong(all)).toEqual([]);
  }, 400_000);
});

describe('clocks that are ten minutes apart', () => {
  const later = 10 * minute;
  const expires = (inMs: number) => ({ expires: new Date(Date.now() + inMs).toISOString() });

  /** The receipt says when it was by the merchant's clock; the credential ends five minutes later by the worker's. */
  async function isDated(buyer: Buyer, { worker = 0 }: Skew): Promise<void> {
    const [{ id } = { id: '' }] = await buyers.paymentsOf(buyer);
    const { body } = await buyers.call('GET', `/v1/mpp/payments/${id}`);
    expect(Date.parse(body.receipt.timestamp) - Date.now()).toBeGreaterThan(later - 2 * minute);
    const { body: credential } = await buyers.call('GET', `/v1/mpp/credentials/${body.credentialId}`);
    expect(Date.parse(credential.expiresAt) - worker - Date.now()).toBeLessThanOrEqual(5 * minute);
  }

  /** The challenge is valid for that long by the merchant's clock, and the payment ends like this. */
  type Why = readonly [code: string, says: RegExp];
  const noChallenge = (says: RegExp): Why => ['no_challenge', says];
  const unheard = (says: string): Why => [
    'merchant_declined',
    new RegExp(`clock of the API is \\d+ min ${says} the network`),
  ];
  test.each<[what: string, skew: Skew, expiresInMs: number, end: string, why: Why | null]>([
    ['the merchant is ahead', {}, 15 * minute, 'paid', null],
    ['the merchant is behind', {}, -5 * minute, 'refused', noChallenge(/expired at \S+; nothing was spent$/)],
    [
      'the worker is ahead',
      { worker: later },
      5 * minute,
      'refused',
      noChallenge(/worker is \d+ min ahead of the data/),
    ],
    ['the worker is ahead, and the challenge lives long', { worker: later }, 30 * minute, 'paid', null],
    [
      'the worker is behind: its credential has ended',
      { worker: -later },
      5 * minute,
      'refused',
      ['card_refused', /clock of this worker is \d+ min behind the database/],
    ],
    ['the API is ahead: the network is not heard', { api: later }, 5 * minute, 'declined', unheard('ahead of')],
    ['the API is behind: the network is not heard', { api: -later }, 5 * minute, 'declined', unheard('behind')],
  ])(
    '%s: the payment ends, and no charge is hidden',
    async (what, skew, expiresInMs, end, why) => {
      const buyer = await buyers.aBuyer(what.replaceAll(/\W/g, '-'));
      buyers.sellsTo([buyer], () => ({ aheadMs: later }));
      merchant.demands(() => [merchant.challenge(expires(expiresInMs))]);
      await clocks.set(skew);
      try {
        const { status } = await untilAnswered(buyer.pay);
        expect(status).toBe(end === 'refused' ? 400 : 200);
        const ended = await eventually(
          () =>
            site.sql(
              'select status, outcome_code as code, outcome_reason as reason from mpp_payments where intent_id = $1',
              [buyer.intentId],
            ),
          ([payment]) => ['paid', 'refused', 'declined', 'not_paid'].includes(payment?.status),
        );
        const [code, says] = why ?? [null, undefined];
        const reason = says === undefined ? null : expect.stringMatching(says);
        expect(ended).toEqual([{ status: end, code, reason }]);
      } finally {
        await clocks.set({});
      }
      if (end === 'paid') await isDated(buyer, skew);
      expect(buyers.presentationsOf(buyer)).toBe(end === 'refused' ? 0 : 1);
      expect(await buyers.wrong([buyer])).toEqual([]);
    },
    240_000,
  );
});
