/** MPP credentials as rows, for tests of what uses them. @module */
import { randomUUID } from 'node:crypto';
import { newId } from '../../src/kernel/ids.ts';
import { hashSecret } from '../../src/vault/secret-hash.ts';
import type { Payer } from './payments-world.ts';
import type { World } from './world.ts';

/** The merchant that `aCredential` is for. */
export const apiShop = { id: 'merch_1', name: 'API Shop', mcc: '5734', country: 'DE' };

export type Credential = {
  readonly id: `mppc_${string}`;
  readonly token: string;
  readonly intentId: string;
  readonly challengeId: string;
};

/** A minted credential with its workflow run. */
export async function aCredential(
  world: World,
  payer: Payer,
  intentId: string,
  columns: Readonly<Record<string, unknown>> = {},
): Promise<Credential> {
  const [id, token, challengeId] = [newId('mppCredential'), `spt_${randomUUID()}`, `challenge-${randomUUID()}`];
  const row: Record<string, unknown> = {
    id,
    owner_id: payer.owner.ownerId,
    agent_id: payer.agentId,
    intent_id: intentId,
    card_id: payer.cardId,
    challenge_id: challengeId,
    origin: 'https://shop.example',
    host: 'shop.example',
    recipient: apiShop.id,
    amount_cents: 1_250,
    currency: 'EUR',
    ceiling_cents: 1_250,
    token_hash: hashSecret(token),
    sealed_credential: 'sealed',
    status: 'minted',
    expires_at: new Date(Date.now() + 120_000),
    minted_at: new Date(),
    request_id: 'req-of-the-mint',
    created_at: new Date(),
    updated_at: new Date(),
    ...columns,
  };
  const names = Object.keys(row);
  await world.sql(
    `insert into mpp_credentials (${names.join(', ')}) values (${names.map((_, index) => `$${index + 1}`).join(', ')})`,
    Object.values(row),
  );
  await world.sql(
    `insert into workflow_runs (id, workflow, subject_id, owner_id, agent_id, stage, started_epoch, due_at, created_at)
     values ($1, 'mppCredential', $2, $3, $4, 'minted', 'test', null, now())`,
    [`mpp-credential/${id}`, id, payer.owner.ownerId, payer.agentId],
  );
  return { id, token, intentId, challengeId };
}

type StoredCredential = {
  status: string;
  transaction_id: string | null;
  authorized_at: Date | null;
  sealed_credential: string | null;
  outcome_code: string | null;
};

export async function credentialRow(world: World, id: string): Promise<StoredCredential> {
  const [row] = await world.sql<StoredCredential>(
    'select status, transaction_id, authorized_at, sealed_credential, outcome_code from mpp_credentials where id = $1',
    [id],
  );
  if (row === undefined) throw new Error(`no credential ${id}`);
  return row;
}

/** Names of the events of a record, in their order. */
export const eventNamesOf = async (world: World, subjectId: string): Promise<string[]> =>
  (await world.sql<{ name: string }>('select name from events where subject_id = $1 order by seq', [subjectId])).map(
    ({ name }) => name,
  );
