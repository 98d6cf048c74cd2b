/**
 * Goal: an intent that a removed passkey attested cannot be charged, also when it is confirmed and not charged yet, and
 * also when the passkey is removed while a charge is evaluated. Method: real HTTP and signatures, the real use case.
 * @module
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { databaseOf } from '../../../src/db/database.ts';
import { type Orm, openDatabase } from '../../../src/db/orm.ts';
import { passkeysArea } from '../../../src/domains/identity/passkeys/passkey.contract.ts';
import { authorizationMessage } from '../../../src/domains/payments/network/network.contract.ts';
import { entities } from '../../../src/main/modules/index.ts';
import { authorizeCard } from '../../../src/usecases/payments/authorize-card.ts';
import { aPasskey, intentChallengeOf } from '../../support/factories/passkeys.ts';
import { clientsOf } from '../../support/factories/records.ts';
import { aPayer, networkOf, sandboxShop } from '../../support/payments-world.ts';
import { refusalOf } from '../../support/refusals.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
let orm: Orm;
beforeAll(async () => {
  world = await startWorld();
  orm = await openDatabase({ url: world.config.DATABASE_URL, entities, poolSize: 3, applicationName: 'test' });
});
afterAll(async () => {
  await orm.close();
  await world.close();
});

const headers = () => ({ 'Idempotency-Key': randomUUID() });

/** An intent that a passkey stands by. */
async function attested() {
  const payer = await aPayer(world, { policy: { require_attestation: true, attestation_window_minutes: 600 } });
  const api = clientsOf(payer.owner);
  const agent = clientsOf(world.as(payer.token));
  const passkey = await aPasskey(world, payer.owner);
  const { id } = await agent.intents.declareIntent({
    body: { purpose: 'a book', expectedAmountEuros: 12, expectedMerchant: 'Sandbox Shop' },
  });
  const body = { webauthnAssertion: passkey.answer(await intentChallengeOf(payer.owner, id)) };
  const attest = (key: { 'Idempotency-Key': string }) =>
    api.intents.attestIntent({ params: { id }, body, headers: key });
  const once = headers();
  await attest(once);
  const message = () => networkOf(world).authorizationOf(payer, { amountCents: 1_200, merchant: sandboxShop });
  return {
    passkey,
    confirm: () => agent.checkout.confirmCheckout({ body: { intentId: id }, headers: headers() }),
    read: () => api.intents.getIntent({ params: { id } }),
    remove: () => payer.owner.client(passkeysArea).revokePasskey({ params: { id: passkey.id as never }, body: {} }),
    message,
    charge: async () => (await networkOf(world).send<{ decision: string }>('authorizations', message())).body,
    repeat: async () => {
      await world.sql('update idempotency set status = null, body = null, lease_until = null where key = $1', [
        once['Idempotency-Key'],
      ]);
      return attest(once);
    },
  };
}

test('a confirmed intent without a charge loses its attestation, and a paid intent keeps it', async () => {
  const { confirm, read, remove, charge } = await attested();
  await confirm();
  expect(await read()).toMatchObject({ status: 'completed', attestedAt: expect.any(String) });
  await remove();
  expect(await read()).toMatchObject({ status: 'completed', attestedAt: null });
  expect(await charge()).toMatchObject({ decision: 'declined', rule: 'attestation' });

  const paid = await attested();
  await paid.confirm();
  expect(await paid.charge()).toMatchObject({ decision: 'approved' });
  await paid.remove();
  expect((await paid.read()).attestedAt).not.toBeNull();
});

test('the attestation of a passkey that is removed while the charge of a confirmed intent is evaluated does not count', async () => {
  const { confirm, remove, message } = await attested();
  await confirm();
  let asked = 0;
  const authorize = authorizeCard({
    database: databaseOf(orm),
    log: { error: () => undefined },
    requestApproval: async () => undefined,
    risk: {
      assess: async () => {
        asked += 1;
        if (asked === 1) await remove();
        return { outcome: 'allow', signals: [] };
      },
    },
  });
  const parsed = authorizationMessage.parse(message());
  const cause = { causeId: parsed.id, requestId: 'req', actor: { kind: 'network' }, at: new Date() } as const;
  const answer = await authorize({ adapter: 'sandbox', message: parsed, requestHash: 'hash', cause });
  expect(answer).toMatchObject({ decision: 'declined', rule: 'attestation' });
  expect(asked).toBe(2);
});

test('a repeated attestation succeeds while the attestation exists, and is refused afterwards', async () => {
  const { passkey, read, remove, repeat } = await attested();
  expect((await repeat()).attestedAt).toBe((await read()).attestedAt);
  await remove();
  expect(await refusalOf(repeat())).toEqual([
    400,
    `passkey ${passkey.id} stands by the intent no more; ask for a new challenge`,
  ]);
});
