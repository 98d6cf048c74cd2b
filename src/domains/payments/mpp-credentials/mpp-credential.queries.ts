/** Reads of MPP credentials, and the view of one for its workflow. No decision is made here. @module */
import { LockMode } from '@mikro-orm/core';
import { sql } from 'kysely';
import { type Given, query } from '../../../db/db.ts';
import { type Filters, list, newestFirst, page } from '../../../db/page.ts';
import { columnsOf } from '../../../db/tables.ts';
import type { Tx } from '../../../db/tx.ts';
import { notFound } from '../../../kernel/errors.ts';
import type { Page, PageQuery } from '../../../kernel/page.ts';
import type { RowState } from '../../../kernel/row-state.ts';
import { MppCredentialRow, MppCredentialSchema } from './mpp-credential.entity.ts';
import type { MppCredentialView } from './mpp-credential.messages.ts';
import {
  type CredentialDue,
  type CredentialFact,
  type CredentialStatus,
  credentialFacts,
  isFinalCredential,
} from './mpp-credential.rules.ts';

const one = query((from, given: Given<{ id: string }>) =>
  from.selectFrom('mpp_credentials').select(columnsOf(MppCredentialSchema)).where('id', '=', given('id')),
);

/** To be read: lock the row before changing it. */
export const findMppCredential = (tx: Tx, id: string): Promise<Readonly<MppCredentialRow> | null> =>
  one.first(tx, { id });

export async function lockMppCredential(tx: Tx, id: string): Promise<MppCredentialRow> {
  const options = { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true } as const;
  const row = await tx.findOne(MppCredentialRow, { id: id as MppCredentialRow['id'] }, options);
  if (row === null) throw notFound('MPP credential', id);
  return row;
}

const live = query((from, given: Given<{ intentId: string }>) =>
  from
    .selectFrom('mpp_credentials')
    .select(['id', 'status', 'expiresAt'])
    .where('intentId', '=', given('intentId'))
    .where((eb) => eb('status', 'in', [eb.val<CredentialStatus>('requested'), eb.val<CredentialStatus>('minted')]))
    .forUpdate(),
);

/** The credential of an intent that is not final by its row, also past its expiry. At most one exists. */
export const lockLiveCredentialOf = (
  tx: Tx,
  intentId: string,
): Promise<Pick<MppCredentialRow, 'id' | 'status' | 'expiresAt'> | null> => live.first(tx, { intentId });

/** Of several intents, in the order of their ids. */
export const lockLiveCredentialsOf = (tx: Tx, intentIds: readonly string[]): Promise<MppCredentialRow[]> =>
  tx.find(
    MppCredentialRow,
    { intentId: { $in: [...intentIds] }, status: { $in: ['requested', 'minted'] } },
    { lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { id: 'asc' }, refresh: true },
  );

/** Why an intent may still be paid by a credential that was minted for it. `now` is real time. */
export async function whyCredentialLives(tx: Tx, intentId: string, now: Date): Promise<string | undefined> {
  const live = await tx.findOne(
    MppCredentialRow,
    { intentId, status: { $in: ['requested', 'minted'] }, expiresAt: { $gt: now } },
    { refresh: true },
  );
  if (live === null) return undefined;
  return `credential ${live.id} of this intent is valid until ${live.expiresAt.toISOString()}`;
}

/** The credential that a transaction was paid with. */
export const credentialOfTransaction = (tx: Tx, transactionId: string): Promise<MppCredentialRow | null> =>
  tx.findOne(MppCredentialRow, { transactionId }, { refresh: true });

const ofMerchant = query((from, given: Given<{ merchantId: string; challengeId: string }>) =>
  from
    .selectFrom('mpp_credentials')
    .select(['id', 'agentId', 'intentId'])
    .where('merchantId', '=', given('merchantId'))
    .where('challengeId', '=', given('challengeId'))
    // One that was or may be used before those that were not used.
    .orderBy(sql`status in ('consumed', 'minted')`, 'desc')
    .orderBy('createdAt', 'desc')
    .limit(sql.lit(1)),
);

const ofMerchantById = query((from, given: Given<{ merchantId: string; id: string }>) =>
  from
    .selectFrom('mpp_credentials')
    .select(['id', 'agentId', 'intentId'])
    .where('merchantId', '=', given('merchantId'))
    .where(sql<string>`id`, '=', given('id')),
);

export type MerchantsCredential = Pick<MppCredentialRow, 'id' | 'agentId' | 'intentId'>;

/** A credential that was minted for the key of that merchant. */
export const credentialOfMerchant = (
  tx: Tx,
  merchantId: string,
  named: { readonly id: string } | { readonly challengeId: string },
): Promise<MerchantsCredential | null> =>
  'id' in named
    ? ofMerchantById.first(tx, { merchantId, id: named.id })
    : ofMerchant.first(tx, { merchantId, challengeId: named.challengeId });

export type MppCredentialFilter = {
  readonly ownerId: string;
  readonly agentId?: string | undefined;
  readonly intentId?: string | undefined;
  readonly status?: CredentialStatus | undefined;
  /** Real time. */
  readonly now: Date;
};

type ListedBy = Omit<MppCredentialFilter, 'status' | 'now'> & {
  /** A live credential past its expiry counts as expired, so these three exclude each other. */
  readonly live?: CredentialStatus | undefined;
  readonly expired?: CredentialStatus | undefined;
  readonly ended?: CredentialStatus | undefined;
  readonly now?: Date | undefined;
};

const mppCredentials = list((from, given: Filters<ListedBy>) => {
  let wanted = from
    .selectFrom('mpp_credentials')
    .select(columnsOf(MppCredentialSchema))
    .where('ownerId', '=', given('ownerId'));
  if (given.has('agentId')) wanted = wanted.where('agentId', '=', given('agentId'));
  if (given.has('intentId')) wanted = wanted.where('intentId', '=', given('intentId'));
  if (given.has('ended')) wanted = wanted.where('status', '=', given('ended'));
  if (given.has('live')) wanted = wanted.where('status', '=', given('live')).where('expiresAt', '>', given('now'));
  if (given.has('expired')) {
    wanted = wanted.where((eb) =>
      eb.or([
        eb('status', '=', given('expired')),
        eb.and([
          eb.or([
            eb('status', '=', eb.val<CredentialStatus>('requested')),
            eb('status', '=', eb.val<CredentialStatus>('minted')),
          ]),
          eb('expiresAt', '<=', given('now')),
        ]),
      ]),
    );
  }
  return wanted;
}, newestFirst('mpp_credentials'));

/** Newest first. */
export function listMppCredentials(
  tx: Tx,
  { status, now, ...filter }: MppCredentialFilter,
  pageQuery: PageQuery,
): Promise<Page<Readonly<MppCredentialRow>>> {
  const isLive = status !== undefined && !isFinalCredential(status);
  const live = isLive ? status : undefined;
  const expired = status === 'expired' ? status : undefined;
  const ended = isLive || status === 'expired' ? undefined : status;
  const at = live === undefined && expired === undefined ? undefined : now;
  return page(tx, mppCredentials, { ...filter, live, expired, ended, now: at }, pageQuery);
}

const mppCredentialView = (row: MppCredentialRow): MppCredentialView => ({
  credentialId: row.id,
  intentId: row.intentId,
  agentId: row.agentId,
  status: row.status,
  amountCents: row.amountCents,
  expiresAt: row.expiresAt.toISOString(),
  transactionId: row.transactionId ?? null,
  code: row.outcomeCode ?? null,
});

/** The credential as its workflow follows it. `now` is real time. */
export const mppCredentialState = (
  row: MppCredentialRow,
  now: Date,
): RowState<MppCredentialView, CredentialFact, CredentialDue> => ({
  version: row.version,
  ...credentialFacts({ ...row, paymentId: row.paymentId ?? null }, now),
  view: mppCredentialView(row),
});

declare module '../../../http/reaches.ts' {
  interface Records {
    readonly mppCredential: MppCredentialRow;
  }
}
