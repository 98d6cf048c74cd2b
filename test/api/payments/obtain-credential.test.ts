/**
 * Goal: a machine payment obtains its credential in one step that may be repeated, asks the processor for the token once
 * where nothing is lost, and presents at most once. Method: the use cases over a real database, with a merchant and a
 * processor that the test controls.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { allowAllRisk } from '../../../src/adapters/risk/allow-all.ts';
import type { Database } from '../../../src/db/database.ts';
import { openMppPayment } from '../../../src/domains/payments/mpp-payments/mpp-payment.service.ts';
import type { FirstAnswer, PaidResource } from '../../../src/domains/payments/mpp-payments/paid-resource.port.ts';
import { lockIntent } from '../../../src/domains/spending/intents/intent.lock.service.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { evaluateCharge } from '../../../src/usecases/payments/evaluate-charge.ts';
import { mintedCredentials } from '../../../src/usecases/payments/minted-credentials.ts';
import { obtainCredential } from '../../../src/usecases/payments/obtain-credential.ts';
import { markPresentation, presentCredential } from '../../../src/usecases/payments/present-credential.ts';
import { createVault } from '../../../src/vault/vault.ts';
import { readVaultKeys } from '../../../src/vault/vault-keys.ts';
import { challengeHeader, openCredential } from '../../support/payment-challenges.ts';
import { anIntent, aPayer, inDatabase, type Payer } from '../../support/payments-world.ts';
import { businessNow, startWorld, type World } from '../../support/world.ts';

let world: World;
let payer: Payer;
beforeAll(async () => {
  world = await startWorld();
  payer = await aPayer(world);
});
afterAll(() => world.close());

const url = 'https://shop.example/report';

/** A merchant that demands a payment and delivers, and a processor. Both count. */
function theOutside(challenge = challengeHeader(), meanwhile: () => Promise<unknown> = async () => undefined) {
  const counted = { requests: 0, tokens: [] as string[], presented: [] as string[] };
  const paidResource: PaidResource = {
    request: async (): Promise<FirstAnswer> => {
      counted.requests++;
      await meanwhile();
      return { outcome: 'payment_required', url, authenticate: [challenge], offersX402: false };
    },
    present: async ({ header }) => {
      counted.presented.push(header.value);
      const body = { bytes: new Uint8Array(), contentType: null, isTruncated: false };
      return { outcome: 'answered', status: 200, receipt: null, body };
    },
  };
  const cardProcessor = {
    mintPaymentToken: async ({ idempotencyKey, expiresAt }: { idempotencyKey: string; expiresAt: Date }) => {
      counted.tokens.push(idempotencyKey);
      const paymentToken = `spt_${idempotencyKey}`;
      return { outcome: 'minted', paymentToken, expiresAt: expiresAt.toISOString() } as const;
    },
  };
  return { counted, paidResource, cardProcessor };
}

type Outside = Pick<ReturnType<typeof theOutside>, 'paidResource' | 'cardProcessor'>;

/** The steps as one worker has them; another worker has another memory. */
const aWorker = (database: Database, { paidResource, cardProcessor }: Outside) => {
  const deps = {
    database,
    clock: { now: () => businessNow(world), offsetMs: async () => 0 },
    vault: createVault({ keys: readVaultKeys(world.config.BURSAR_VAULT_KEY) }),
    evaluate: evaluateCharge({ risk: allowAllRisk }),
    merchantKeys: { fetchKeySet: async () => ({ outcome: 'no_answer', why: 'not asked', isForGood: true }) as const },
    ...{ paidResource, cardProcessor, signerOf: async () => undefined, mintedCredentials: mintedCredentials() },
  };
  return { obtain: obtainCredential(deps), mark: markPresentation(deps), present: presentCredential(deps) };
};

async function aPayment(database: Database, of = payer): Promise<{ id: string; credentialId: string }> {
  const intentId = await anIntent(world, of, { merchant: null });
  const ids = { id: newId('mppPayment'), credentialId: newId('mppCredential') };
  const at = await businessNow(world);
  const cause = { causeId: randomUUID(), requestId: randomUUID(), actor: { kind: 'system' }, at } as const;
  await database.write(async (tx) => {
    await openMppPayment(tx, { ...ids, intent: await lockIntent(tx, intentId), url }, cause);
  });
  return ids;
}

const stepsOf = async (id: string) =>
  (await world.sql<{ to: string }>('select to_status as to from transitions where row_id = $1', [id])).map(
    ({ to }) => to,
  );
const runsOf = (id: string) => world.sql('select workflow, is_open from workflow_runs where subject_id = $1', [id]);

test('one step leads to the minted credential, each state is on record, and the token is asked for once', () =>
  inDatabase(world, async (database) => {
    const outside = theOutside();
    const worker = aWorker(database, outside);
    const { id, credentialId } = await aPayment(database);
    expect(await worker.obtain(id)).toMatchObject({ status: 'minted', amountCents: 1_250, payeeUrl: url });
    expect((await stepsOf(id)).toSorted()).toEqual(['allowed', 'challenged', 'minted', 'requested']);
    expect(await runsOf(credentialId)).toEqual([]);
    expect(await worker.mark(id, 'cause')).toMatchObject({ mayHaveSent: false, row: { status: 'presenting' } });
    expect(await worker.present(id, 'cause')).toMatchObject({ status: 'accepted', merchantStatus: 200 });
    expect(await worker.present(id, 'cause')).toMatchObject({ status: 'accepted' });
    const { counted } = outside;
    expect([counted.requests, counted.tokens, counted.presented.length]).toEqual([1, [credentialId], 1]);
    const { plaintext } = await openCredential(counted.presented[0] ?? '');
    expect(plaintext.token.paymentToken).toBe(`spt_${credentialId}`);
  }));

test('a repeat after the step was lost changes nothing, whatever it had come to', () =>
  inDatabase(world, async (database) => {
    const outside = theOutside();
    const { id, credentialId } = await aPayment(database);
    const away = {
      mintPaymentToken: async () => {
        throw new Error('the processor is away');
      },
    };
    await expect(aWorker(database, { ...outside, cardProcessor: away }).obtain(id)).rejects.toThrow('away');
    const again = aWorker(database, outside);
    expect(await again.obtain(id)).toMatchObject({ status: 'minted' });
    expect(await again.obtain(id)).toMatchObject({ status: 'minted' });
    expect([outside.counted.requests, outside.counted.tokens]).toEqual([1, [credentialId]]);
    expect((await stepsOf(credentialId)).toSorted()).toEqual(['minted', 'requested']);
  }));

test('two attempts at once obtain one credential', () =>
  inDatabase(world, async (database) => {
    const outside = theOutside();
    const { id, credentialId } = await aPayment(database);
    const attempts = [1, 2].map(() => aWorker(database, outside).obtain(id));
    const ended = await Promise.allSettled(attempts);
    expect(ended.some(({ status }) => status === 'fulfilled')).toBe(true);
    expect((await stepsOf(id)).toSorted()).toEqual(['allowed', 'challenged', 'minted', 'requested']);
    expect((await stepsOf(credentialId)).toSorted()).toEqual(['minted', 'requested']);
  }));

test('another worker presents the same token: it asks the processor under the same key', () =>
  inDatabase(world, async (database) => {
    const outside = theOutside();
    const { id, credentialId } = await aPayment(database);
    await aWorker(database, outside).obtain(id);
    const other = aWorker(database, outside);
    await other.mark(id, 'cause');
    expect(await other.present(id, 'cause')).toMatchObject({ status: 'accepted' });
    expect(outside.counted.tokens).toEqual([credentialId, credentialId]);
    expect(outside.counted.presented).toHaveLength(1);
  }));

test.each<[string, string, (ids: { credentialId: string; ownerId: string }) => Promise<unknown>]>([
  [
    'the credential has expired',
    'expired',
    ({ credentialId }) =>
      world.sql(`update mpp_credentials set expires_at = now() - interval '1 second' where id = $1`, [credentialId]),
  ],
  [
    'the owner has forbidden the payee',
    'protect_rule',
    ({ ownerId }) =>
      world.sql(
        `insert into protect_rules (id, owner_id, type, merchant, request_id, created_at)
         values ($1, $2, 'deny', 'shop.example', 'req', now())`,
        [newId('protectRule'), ownerId],
      ),
  ],
])('%s between the mint and the presentation: nothing is sent', (_what, outcomeCode, meanwhile) =>
  inDatabase(world, async (database) => {
    const of = await aPayer(world);
    const outside = theOutside();
    const worker = aWorker(database, outside);
    const { id, credentialId } = await aPayment(database, of);
    await worker.obtain(id);
    await worker.mark(id, 'cause');
    await meanwhile({ credentialId, ownerId: of.owner.ownerId });
    expect(await worker.present(id, 'cause')).toMatchObject({ status: 'refused', outcomeCode });
    expect(outside.counted.presented).toEqual([]);
  }),
);

test('a payment that ends meanwhile reserves nothing', () =>
  inDatabase(world, async (database) => {
    const { id, credentialId } = await aPayment(database);
    const outside = theOutside(challengeHeader(), () =>
      world.sql(`update mpp_payments set status = 'refused', outcome_code = 'unreachable' where id = $1`, [id]),
    );
    await expect(aWorker(database, outside).obtain(id)).rejects.toMatchObject({ code: 'conflict' });
    expect(await world.sql('select 1 from mpp_credentials where id = $1', [credentialId])).toEqual([]);
    expect(outside.counted.tokens).toEqual([]);
  }));

test('a challenge that does not fit is refused before anything is reserved, with both states on record', () =>
  inDatabase(world, async (database) => {
    const outside = theOutside(challengeHeader({ amountCents: 9_999 }));
    const { id, credentialId } = await aPayment(database);
    expect(await aWorker(database, outside).obtain(id)).toMatchObject({
      status: 'refused',
      outcomeCode: 'challenge_amount',
      amountCents: 9_999,
      sealedChallenge: null,
    });
    expect((await stepsOf(id)).toSorted()).toEqual(['challenged', 'refused', 'requested']);
    expect(await world.sql('select 1 from mpp_credentials where id = $1', [credentialId])).toEqual([]);
    expect(await runsOf(id)).toEqual([{ workflow: 'mppPayment', is_open: false }]);
  }));

test('a credential that the payment leaves unused gets a run, which marks its expiry', () =>
  inDatabase(world, async (database) => {
    const outside = theOutside();
    const worker = aWorker(database, outside);
    const { id, credentialId } = await aPayment(database);
    await worker.obtain(id);
    await worker.mark(id, 'cause');
    await worker.present(id, 'cause');
    expect(await runsOf(credentialId)).toEqual([{ workflow: 'mppCredential', is_open: true }]);
  }));

test('what is kept is taken once, and not for long', async () => {
  const [kept, minted] = [mintedCredentials({ livesMs: 20 }), {} as never];
  kept.keep('one', minted);
  expect([kept.take('one'), kept.take('one')]).toEqual([minted, undefined]);
  kept.keep('other', minted);
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(kept.take('other')).toBeUndefined();
});
