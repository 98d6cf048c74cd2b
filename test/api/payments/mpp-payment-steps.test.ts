/**
 * Goal: each step of a machine payment may come twice, late, at once or by another worker, and the credential leaves
 * once, within its time, after the row has said so. Method: the use cases over a real database; merchant and processor
 * are the test's.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import pg from 'pg';
import { allowAllRisk } from '../../../src/adapters/risk/allow-all.ts';
import type { Database } from '../../../src/db/database.ts';
import { runSql } from '../../../src/db/statement.ts';
import { sendWithinMs, silenceMs } from '../../../src/domains/payments/mpp-payments/mpp-payment.rules.ts';
import type { PaidResource } from '../../../src/domains/payments/mpp-payments/paid-resource.port.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { hour } from '../../../src/kernel/instant.ts';
import { createClock } from '../../../src/platform/clock.ts';
import { endPresentation } from '../../../src/usecases/payments/conclude-presentation.ts';
import { evaluateCharge } from '../../../src/usecases/payments/evaluate-charge.ts';
import { mintedCredentials } from '../../../src/usecases/payments/minted-credentials.ts';
import { obtainCredential } from '../../../src/usecases/payments/obtain-credential.ts';
import { markPresentation, presentCredential } from '../../../src/usecases/payments/present-credential.ts';
import { resolveMppPayment } from '../../../src/usecases/payments/resolve-mpp-payment.ts';
import { endSilence, recordCharge } from '../../../src/usecases/payments/settle-mpp-payment.ts';
import { createVault } from '../../../src/vault/vault.ts';
import { readVaultKeys } from '../../../src/vault/vault-keys.ts';
import { someoneWaits } from '../../support/lock-waits.ts';
import { anUnknownPayment, aRequestedPayment } from '../../support/open-payment.ts';
import { challengeHeader } from '../../support/payment-challenges.ts';
import { anIntent, aPayer, brokenInvariants, inDatabase, networkOf, type Payer } from '../../support/payments-world.ts';
import { businessNow, startWorld, type World } from '../../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(async () => {
  expect(await brokenInvariants(world)).toEqual([]);
  await world.close();
});

const cause = 'mpp-payment/x/run/answered';

/** A merchant that asks for 12.50 EUR and delivers; what its row said when the credential came. */
function merchantOf(id: string) {
  const seen: unknown[] = [];
  const resource: PaidResource = {
    request: async (url) => ({
      outcome: 'payment_required',
      url,
      authenticate: [challengeHeader()],
      offersX402: false,
    }),
    present: async () => {
      seen.push(
        ...(await world.sql('select status, sent_at is not null as "isSent" from mpp_payments where id = $1', [id])),
      );
      const body = { bytes: Buffer.from('{}'), contentType: 'application/json', isTruncated: false };
      return { outcome: 'answered', status: 200, receipt: null, body };
    },
  };
  return { seen, resource };
}

function stepsIn(database: Database, paidResource: PaidResource) {
  const deps = {
    database,
    clock: createClock(database, 'sandbox'),
    vault: createVault({ keys: readVaultKeys(world.config.BURSAR_VAULT_KEY) }),
    evaluate: evaluateCharge({ risk: allowAllRisk }),
    merchantKeys: { fetchKeySet: async () => ({ outcome: 'no_answer', why: 'not asked', isForGood: true }) as const },
    cardProcessor: {
      mintPaymentToken: async ({ idempotencyKey, expiresAt }: { idempotencyKey: string; expiresAt: Date }) =>
        ({ outcome: 'minted', paymentToken: `spt_${idempotencyKey}`, expiresAt: expiresAt.toISOString() }) as const,
    },
    paidResource,
    signerOf: async () => undefined,
    mintedCredentials: mintedCredentials(),
  };
  return {
    obtain: obtainCredential(deps),
    mark: markPresentation(deps),
    present: presentCredential(deps),
    endPresentation: endPresentation(deps),
    recordCharge: recordCharge(deps),
    endSilence: endSilence(deps),
  };
}
type Steps = ReturnType<typeof stepsIn>;

const buyer = (): Promise<Payer> => aPayer(world, { fundsCents: 5_000, policy: { require_intent: true } });

type Playing = (steps: Steps, id: string) => Promise<void>;
type Played = { readonly id: string; readonly payer: Payer; readonly seen: readonly unknown[] };

/** The same of a run of an older release, which has marked the row for the step that sends. */
const marked = (play: Playing): Promise<Played> =>
  minted(async (steps, id) => {
    expect(await steps.mark(id, cause)).toMatchObject({ mayHaveSent: false, row: { status: 'presenting' } });
    await play(steps, id);
  });

/** A payment whose credential is minted and may leave; `play` takes the next steps. */
async function minted(play: Playing): Promise<Played> {
  const payer = await buyer();
  const id = await aRequestedPayment(world, await anIntent(world, payer, { merchant: null }));
  const { resource, seen } = merchantOf(id);
  await inDatabase(world, async (database) => {
    const steps = stepsIn(database, resource);
    await steps.obtain(id);
    await steps.obtain(id); // A repeat finds it done.
    await play(steps, id);
  });
  return { id, payer, seen };
}

const statusOf = async (id: string) =>
  (await world.sql('select status from mpp_payments where id = $1', [id]))[0]?.status;

/** The clock of this process is as much later, until it is restored. */
function movedOn(ms: number): () => void {
  const Real = Date;
  globalThis.Date = class extends Real {
    constructor(...given: []) {
      super(...((given.length === 0 ? [Real.now() + ms] : given) as []));
    }
    static override now = (): number => Real.now() + ms;
  } as DateConstructor;
  return () => {
    globalThis.Date = Real;
  };
}

const expireCredentialOf = (payment: string) =>
  world.sql(`update mpp_credentials set expires_at = now() - interval '1 second' where payment_id = $1`, [payment]);

describe('the step that sends', () => {
  test('moves the row before the credential leaves; of steps that come at once and again, of any run, one sends', async () => {
    const { id, seen } = await minted(async ({ present }, payment) => {
      await Promise.all([present(payment, cause), present(payment, 'another run'), present(payment, cause)]);
      await present(payment, cause);
      await present(payment, 'another run');
    });
    expect(seen).toEqual([{ status: 'presenting', isSent: true }]);
    expect(await statusOf(id)).toBe('accepted');
  });

  test('sends nothing once the credential has expired, also where another worker minted it; nothing is spent', async () => {
    const { id, seen } = await minted(async ({ present }, payment) => {
      await expireCredentialOf(payment);
      await present(payment, cause);
    });
    const other = merchantOf('');
    const elsewhere = await minted(async (_, payment) => {
      await expireCredentialOf(payment);
      await inDatabase(world, (database) => stepsIn(database, other.resource).present(payment, cause));
    });
    expect([...seen, ...elsewhere.seen, ...other.seen]).toEqual([]);
    expect([await statusOf(id), await statusOf(elsewhere.id)]).toEqual(['refused', 'refused']);
  });

  test('sends nothing where its process stood still while it moved the row; nothing is spent', async () => {
    const { id, seen } = await minted(async ({ present }, payment) => {
      const [isLocked, mayGoOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const holding = inDatabase(world, (other) =>
        other.write(async (tx) => {
          await runSql(tx, 'select 1 from mpp_payments where id = $1 for update', [payment]);
          isLocked.resolve();
          await mayGoOn.promise;
        }),
      );
      await isLocked.promise;
      const presenting = present(payment, cause);
      await someoneWaits(world, { statement: 'write_mpp_payment' });
      const restore = movedOn(sendWithinMs);
      mayGoOn.resolve();
      await Promise.all([holding, presenting]).finally(restore);
    });
    expect(seen).toEqual([]);
    expect(await statusOf(id)).toBe('refused');
  });

  test('of an older release says in the row that the credential leaves before it does; repeated and at once it sends once', async () => {
    const { id, seen } = await marked(async ({ present, mark }, payment) => {
      expect(await mark(payment, cause)).toMatchObject({ mayHaveSent: false });
      await Promise.all([present(payment, cause), present(payment, cause), present(payment, cause)]);
      await present(payment, cause);
    });
    expect(seen).toEqual([{ status: 'presenting', isSent: true }]);
    expect(await statusOf(id)).toBe('accepted');
  });

  test('of another run sends nothing, and learns that it may have been sent', async () => {
    const { id, seen } = await marked(async ({ present, mark }, payment) => {
      expect(await mark(payment, 'another run')).toMatchObject({ mayHaveSent: true });
      await present(payment, 'another run');
    });
    expect(seen).toEqual([]);
    expect(await statusOf(id)).toBe('presenting');
  });

  test('sends nothing after its time, and nothing once the payment has ended', async () => {
    const { id, seen } = await marked(async (steps, payment) => {
      await steps.endPresentation(payment); // Not due: changes nothing.
      expect(await statusOf(payment)).toBe('presenting');
      await world.sql(`update mpp_payments set send_until = now() - interval '1 ms' where id = $1`, [payment]);
      await steps.present(payment, cause);
      expect(await statusOf(payment)).toBe('presenting');
      await world.sql(`update mpp_payments set send_until = now() - interval '1 minute' where id = $1`, [payment]);
      await steps.endPresentation(payment);
      await world.sql(`update mpp_payments set send_until = now() + interval '1 minute' where id = $1`, [payment]);
      await steps.present(payment, cause);
    });
    expect(seen).toEqual([]);
    expect(await statusOf(id)).toBe('refused');
  });

  test('sends nothing once the challenge has expired; nothing is spent', async () => {
    const { id, seen } = await marked(async ({ present }, payment) => {
      await expireCredentialOf(payment);
      await present(payment, cause);
    });
    expect(seen).toEqual([]);
    expect(await statusOf(id)).toBe('refused');
  });
});

/** In the order in which they are sent, each by the table or function that it is about. */
async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const driver = jest.spyOn(pg.Client.prototype, 'query');
  await work();
  const sent = driver.mock.calls.map(([query]) =>
    typeof query === 'string' ? query : (query as { text: string }).text,
  );
  driver.mockRestore();
  const own = sent.filter((text) => !text.includes('backend_start')); // That one is of a new connection.
  return own.map((text) => {
    const called = /\b(lock_intent_for_payment|load_authorizations|mint_mpp_credential|write_mpp_payment)\(/.exec(
      text,
    )?.[1];
    return called ?? /\b(?:from|insert into|update) "?(\w+)/.exec(text)?.[1] ?? text;
  });
}

test('each step reads and writes in as few statements as it can, because the caller waits for every one', async () => {
  const asked: string[][] = [];
  const payer = await buyer();
  const id = await aRequestedPayment(world, await anIntent(world, payer, { merchant: null }));
  await inDatabase(world, async (database) => {
    const { obtain, present } = stepsIn(database, merchantOf(id).resource);
    for (const step of [() => obtain(id), () => present(id, cause)]) asked.push(await statementsOf(step));
  });
  const [obtaining = [], presenting = []] = asked;
  expect(obtaining).toEqual([
    'mpp_payments',
    'clock',
    'begin',
    'lock_intent_for_payment',
    'intents', // What may stand in the way.
    'protect_rules', // With card and merchants.
    'load_authorizations',
    'mpp_credentials', // Its limit.
    'write_mpp_payment', // With the credential.
    'commit',
    'mint_mpp_credential', // With the payment.
  ]);
  const [row, ...beforeClaim] = presenting.slice(0, presenting.indexOf('write_mpp_payment'));
  expect([row, ...beforeClaim.sort()]).toEqual(['mpp_payments', 'clock', 'mpp_credentials', 'protect_rules']);
});

describe('an unknown payment', () => {
  const anUnknown = async () => {
    const payer = await buyer();
    const payment = await anUnknownPayment(world, payer, await anIntent(world, payer, { merchant: null }));
    return { payer, ...payment };
  };
  const silence = (id: string) =>
    inDatabase(world, (database) => stepsIn(database, merchantOf(id).resource).endSilence(id));
  const presentedBefore = (id: string, ms: number) =>
    world.sql(`update mpp_payments set presented_at = presented_at - $2 * interval '1 ms' where id = $1`, [id, ms]);

  test('is not given up before its time, and never over a charge that the run has not recorded yet', async () => {
    const { id, payer, credential } = await anUnknown();
    await presentedBefore(id, silenceMs);
    await silence(id);
    expect(await statusOf(id)).toBe('unknown');
    const merchant = { id: 'merch_1', name: 'API Shop', mcc: '5734', country: 'DE' };
    const { body } = await networkOf(world).authorize(payer, { token: credential.token, merchant });
    expect(body.decision).toBe('approved');
    await presentedBefore(id, hour);
    await silence(id);
    expect(await statusOf(id)).toBe('unknown');
    await inDatabase(world, (database) => stepsIn(database, merchantOf(id).resource).recordCharge(id));
    expect(await statusOf(id)).toBe('paid');
  });

  test.each(['paid', 'not-paid'] as const)(
    'is resolved as %s once, also when the same order comes again',
    async (outcome) => {
      const { id, intentId } = await anUnknown();
      const at = await businessNow(world);
      const order = { paymentId: id, outcome, transactionId: newId('transaction') };
      const own = { causeId: randomUUID(), requestId: 'req', actor: { kind: 'dashboard' }, at } as const;
      const resolve = () =>
        inDatabase(world, (database) => database.write((tx) => resolveMppPayment(tx, order, own, new Date())));
      const first = await resolve();
      expect(await resolve()).toMatchObject({ status: first.status, version: first.version });
      expect(first.status).toBe(outcome === 'paid' ? 'paid' : 'not_paid');
      const transactions = await world.sql('select id from transactions where intent_id = $1', [intentId]);
      expect(transactions).toEqual(outcome === 'paid' ? [{ id: order.transactionId }] : []);
    },
  );
});
