/**
 * Writes of beneficiaries, each with its event and audit row in the caller's transaction. The name is compared with the
 * sanctions list before the transaction, because reading a list may take seconds.
 * @module
 */
import { runSql } from '../../../db/statement.ts';
import type { Tx } from '../../../db/tx.ts';
import { recordChanges } from '../../../events/record.ts';
import type { ReachedId } from '../../../http/reaches.ts';
import { DomainError } from '../../../kernel/errors.ts';
import { maskedIban } from '../../../kernel/iban.ts';
import type { Id } from '../../../kernel/ids.ts';
import { assertBelowLimit } from '../../../platform/assert-limit.ts';
import type { Cause } from '../../../platform/cause.ts';
import type { Vault } from '../../../vault/vault.ts';
import type { BeneficiaryBody, BeneficiaryChange } from './beneficiary.contract.ts';
import { BeneficiaryRow } from './beneficiary.entity.ts';
import { lockBeneficiary, lookAlikes } from './beneficiary.queries.ts';
import { type Dismissal, type ScreeningOccasion, screened } from './beneficiary.rules.ts';
import { beneficiaryData, ibanContext } from './beneficiary.wire.ts';
import { matchesIn, type NameMatch } from './name-match.rules.ts';
import type { SanctionsList } from './sanctions.port.ts';

/** What comparing a name with the list found. */
export type Compared = { readonly list: string; readonly matches: readonly NameMatch[] };

/** `unavailable` where no list could be read. */
export async function compareWithList(sanctions: Pick<SanctionsList, 'current'>, name: string): Promise<Compared> {
  const list = await sanctions.current();
  return { list: list.id, matches: matchesIn(list, name) };
}

type NewBeneficiary = {
  readonly id: Id<'beneficiary'>;
  readonly ownerId: string;
  readonly body: BeneficiaryBody;
  readonly compared: Compared;
  /** False: for one transfer, and in no list. */
  readonly isSaved?: boolean;
};

/** A repeat with the same id finds the first record. */
export async function createBeneficiary(
  tx: Tx,
  vault: Vault,
  { id, ownerId, body, compared, isSaved = true }: NewBeneficiary,
  cause: Cause,
): Promise<BeneficiaryRow> {
  const known = await tx.findOne(BeneficiaryRow, { id, ownerId });
  if (known !== null) return known;
  const { iban, country } = body.iban;
  // Two equal accounts at once: the second finds that of the first.
  if (isSaved) {
    await runSql(tx, 'select lock_limit($1, $2, $2)', ['beneficiaries', ownerId]);
    await refuseSameAccount(tx, vault, ownerId, iban);
    await assertBelowLimit(tx, 'beneficiaries', { ownerId, subject: ownerId, at: cause.at }, { isLocked: true });
  }
  const { result, matches } = screened(compared.matches, []);
  const row = tx.create(BeneficiaryRow, {
    id,
    ownerId,
    name: body.name,
    sealedIban: await vault.seal(iban, ibanContext(id)),
    ibanMasked: maskedIban(iban),
    bic: body.bic ?? null,
    country: body.country ?? country,
    email: body.email ?? null,
    agentsMayPay: body.agentsMayPay,
    isSaved,
    status: 'active',
    screeningResult: result,
    screeningList: compared.list,
    matches,
    dismissals: [],
    screenedAt: cause.at,
    requestId: cause.requestId,
    version: 1,
    createdAt: cause.at,
    updatedAt: cause.at,
    deletedAt: null,
  });
  await tx.flush();
  await keepScreening(tx, row, 'created', compared, cause);
  await recordChanges(tx, cause, [changeOf(row, 'beneficiary.created')]);
  return row;
}

/** Accounts are sealed, so equal ones are found among those that look alike. */
async function refuseSameAccount(tx: Tx, vault: Vault, ownerId: string, iban: string): Promise<void> {
  for (const { id, sealedIban } of await lookAlikes(tx, { ownerId, ibanMasked: maskedIban(iban) })) {
    if (sealedIban == null || (await vault.open(sealedIban, ibanContext(id))) !== iban) continue;
    throw new DomainError('invalid_state', `body.iban: is saved already, as ${id}`);
  }
}

type Named = { readonly id: ReachedId<'beneficiary'>; readonly ownerId: string };

/** `compared`: of the new name, where the change has one. */
export async function updateBeneficiary(
  tx: Tx,
  {
    id,
    ownerId,
    change,
    compared,
  }: Named & { readonly change: BeneficiaryChange; readonly compared: Compared | undefined },
  cause: Cause,
): Promise<BeneficiaryRow> {
  const row = await lockBeneficiary(tx, { id, ownerId });
  const { name, ...others } = change;
  if (name !== undefined && name !== row.name) await refuseWhilePaid(tx, row, 'its name cannot change');
  const given = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== undefined));
  Object.assign(row, given, { updatedAt: cause.at });
  if (name !== undefined && compared !== undefined) {
    if (name !== row.name) Object.assign(row, { name, dismissals: [] });
    await applyScreening(tx, row, 'renamed', compared, cause);
  }
  await tx.flush();
  const details = { changed: Object.keys(change) };
  await recordChanges(tx, cause, [{ ...changeOf(row, 'beneficiary.updated'), details }]);
  return row;
}

/** The result of a screening right before money is sent. Only a change of the result is an event. */
export async function rescreenBeneficiary(
  tx: Tx,
  { id, name, compared }: { readonly id: Id<'beneficiary'>; readonly name: string; readonly compared: Compared },
  cause: Cause,
): Promise<BeneficiaryRow | undefined> {
  const row = await lockBeneficiary(tx, { id });
  if (row.name !== name) return undefined; // Renamed meanwhile: the comparison is of another name.
  const before = row.screeningResult;
  await applyScreening(tx, row, 'sending', compared, cause);
  await tx.flush();
  if (row.screeningResult !== before) await recordChanges(tx, cause, [changeOf(row, 'beneficiary.updated')]);
  return row;
}

export async function dismissMatch(
  tx: Tx,
  { id, ownerId, dismissal }: Named & { readonly dismissal: Dismissal },
  cause: Cause,
): Promise<BeneficiaryRow> {
  const row = await lockBeneficiary(tx, { id, ownerId });
  const { reference } = dismissal;
  if (row.dismissals.some((known) => known.reference === reference)) return row;
  if (!row.matches.some((match) => match.reference === reference))
    throw new DomainError('invalid_state', `beneficiary ${id} has no match with the entry ${reference.slice(0, 100)}`);
  const dismissals = [...row.dismissals, dismissal];
  const { result, matches } = screened(row.matches, dismissals);
  Object.assign(row, { dismissals, matches, screeningResult: result, updatedAt: cause.at });
  await tx.flush();
  await recordChanges(tx, cause, [{ ...changeOf(row, 'beneficiary.updated'), details: { dismissed: reference } }]);
  return row;
}

/** The row stays, without account and address, because records of payments name it. */
export async function deleteBeneficiary(tx: Tx, named: Named, cause: Cause): Promise<void> {
  const row = await lockBeneficiary(tx, named);
  await refuseWhilePaid(tx, row, 'it cannot be deleted');
  Object.assign(row, { deletedAt: cause.at, updatedAt: cause.at, sealedIban: null, email: null });
  await tx.flush();
  await recordChanges(tx, cause, [changeOf(row, 'beneficiary.deleted')]);
}

/** What was checked is what is sent: under the name that the payee's bank was asked for, to the account that is sealed. */
async function refuseWhilePaid(tx: Tx, { id }: BeneficiaryRow, why: string): Promise<void> {
  const open = await runSql(
    tx,
    `select 1 from transfers where beneficiary_id = $1 and status in ('pending_approval', 'pending', 'submitted') limit 1`,
    [id],
  );
  if (open > 0) throw new DomainError('invalid_state', `beneficiary ${id} has a transfer that is not final: ${why}`);
}

async function applyScreening(
  tx: Tx,
  row: BeneficiaryRow,
  occasion: ScreeningOccasion,
  compared: Compared,
  cause: Cause,
): Promise<void> {
  const { result, matches } = screened(compared.matches, row.dismissals);
  Object.assign(row, { screeningResult: result, screeningList: compared.list, matches, screenedAt: cause.at });
  await keepScreening(tx, row, occasion, compared, cause);
}

/** All that was found, dismissed or not. */
async function keepScreening(
  tx: Tx,
  row: BeneficiaryRow,
  occasion: ScreeningOccasion,
  { list, matches }: Compared,
  { requestId, at }: Cause,
): Promise<void> {
  await runSql(
    tx,
    `insert into beneficiary_screenings (beneficiary_id, owner_id, occasion, list, result, matches, request_id, created_at)
     values ($1, $2, $3, $4, $5, $6::jsonb, $7, $8)`,
    [row.id, row.ownerId, occasion, list, row.screeningResult, JSON.stringify(matches), requestId, at],
  );
}

const changeOf = (
  row: BeneficiaryRow,
  event: 'beneficiary.created' | 'beneficiary.updated' | 'beneficiary.deleted',
) => ({
  event,
  ownerId: row.ownerId,
  subjectId: row.id,
  data: beneficiaryData(row),
});
