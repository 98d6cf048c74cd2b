/** Machine payments that were begun by the product's own services, and whose next steps the test takes. @module */
import { randomUUID } from 'node:crypto';
import { type MppPaymentCommand, moveMppPayment } from '../../src/domains/payments/mpp-payments/mpp-payment.rules.ts';
import {
  changeMppPayment,
  lockMppPaymentWithIntent,
  type MppPaymentChange,
  markSent,
  openMppPayment,
} from '../../src/domains/payments/mpp-payments/mpp-payment.service.ts';
import { lockIntent } from '../../src/domains/spending/intents/intent.lock.service.ts';
import { newId } from '../../src/kernel/ids.ts';
import { second } from '../../src/kernel/instant.ts';
import { aCredential, type Credential } from './mpp-world.ts';
import { inDatabase, type Payer } from './payments-world.ts';
import { businessNow, type World } from './world.ts';

export type OpenPayment = {
  readonly id: `mpay_${string}`;
  readonly intentId: string;
  /** Minted by this payment; the merchant has it. */
  readonly credential: Credential;
};

const causeAt = async (world: World) => ({
  causeId: `test:${randomUUID()}`,
  requestId: 'req-of-the-payment',
  actor: { kind: 'system' } as const,
  at: await businessNow(world),
});

/** As `pay` begins it; nothing is requested yet. */
export const aRequestedPayment = async (world: World, intentId: string): Promise<`mpay_${string}`> => {
  const [id, credentialId] = [newId('mppPayment'), newId('mppCredential')];
  const cause = await causeAt(world);
  await inDatabase(world, (database) =>
    database.write(async (tx) =>
      openMppPayment(
        tx,
        { id, credentialId, intent: await lockIntent(tx, intentId), url: 'https://shop.example/report' },
        cause,
      ),
    ),
  );
  return id;
};

const onTheWay: readonly MppPaymentCommand[] = ['challenge', 'allow', 'mint', 'present'];

type Columns = Readonly<Record<string, unknown>>;

/** Its credential was sent, and the merchant gave no answer. */
export async function anUnknownPayment(
  world: World,
  payer: Payer,
  intentId: string,
  columns: Columns = {},
): Promise<OpenPayment> {
  const payment = await aSentPayment(world, payer, intentId, columns);
  await take(world, payment.id, 'lose');
  return payment;
}

/** Its credential is with the merchant, which has not answered yet. */
export async function aSentPayment(
  world: World,
  payer: Payer,
  intentId: string,
  columns: Columns = {},
): Promise<OpenPayment> {
  const id = await aRequestedPayment(world, intentId);
  await take(world, id, ...onTheWay);
  const [row] = await world.sql<{ credential_id: string }>('select credential_id from mpp_payments where id = $1', [
    id,
  ]);
  const minted = { id: row?.credential_id, payment_id: id, sealed_credential: null, ...columns };
  const credential = await aCredential(world, payer, intentId, minted);
  return { id, intentId, credential: { ...credential, id: minted.id as Credential['id'] } };
}

/** The next steps of a payment, each in its own transaction. A step that the rules refuse fails the test. */
export async function take(world: World, id: string, ...commands: readonly MppPaymentCommand[]): Promise<void> {
  const cause = await causeAt(world);
  await inDatabase(world, async (database) => {
    for (const command of commands) {
      await database.write(async (tx) => {
        const [at] = await world.sql<{ agentId: string; intentId: string }>(
          'select agent_id as "agentId", intent_id as "intentId" from mpp_payments where id = $1',
          [id],
        );
        if (at === undefined) throw new Error(`no payment ${id}`);
        const row = await lockMppPaymentWithIntent(tx, { id: id as `mpay_${string}`, ...at });
        const { status } = row;
        const real = new Date();
        const own = { ...cause, causeId: `${cause.causeId}/${command}` };
        const moved = await changeMppPayment(tx, row, command, changeOf(command, { real, at: cause.at }), own, {
          real,
        });
        const expected = moveMppPayment(status, command, false);
        if (expected.outcome !== 'moved' || moved.status !== expected.next)
          throw new Error(`${id} does not take ${command}: it is ${status}`);
        if (command === 'present') await markSent(tx, moved, { cause: own, real });
      });
    }
  });
}

function changeOf(command: MppPaymentCommand, { real, at }: { real: Date; at: Date }): MppPaymentChange {
  if (command === 'challenge')
    return { payeeUrl: 'https://shop.example/report', amountCents: 1_250 as never, currency: 'EUR' };
  if (command !== 'present') return {};
  return { sendCause: 'test', sendUntil: new Date(real.getTime() + 20 * second), presentedAt: at };
}
