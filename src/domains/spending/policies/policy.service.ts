/**
 * Policy writes: each locks its row, changes it, increments its version and records the event, in the caller's
 * transaction. The caller has checked that the change is permitted.
 * @module
 */
import { LockMode } from '@mikro-orm/core';
import { type Given, query } from '../../../db/db.ts';
import type { Tx } from '../../../db/tx.ts';
import { recordChanges } from '../../../events/record.ts';
import type { ReachedId } from '../../../http/reaches.ts';
import { DomainError, notFound } from '../../../kernel/errors.ts';
import type { Id } from '../../../kernel/ids.ts';
import { centsOrNull } from '../../../kernel/money.ts';
import { assertBelowLimit } from '../../../platform/assert-limit.ts';
import type { Cause } from '../../../platform/cause.ts';
import { hasMoved, recordTransition } from '../../../platform/transitions.ts';
import { PolicyRow } from './policy.entity.ts';
import type { PolicyTerms } from './policy.rules.ts';
import { policyEventData, termsOf } from './policy.wire.ts';
import { keepExpiryWorkflow } from './policy-expiry.service.ts';
import { keepVersion } from './policy-version.service.ts';
import {
  defaultTerms,
  fallbackPreset,
  isPresetId,
  type Preset,
  type PresetId,
  presetIds,
  presets,
} from './preset.rules.ts';

export type NewTemplate = {
  readonly newId: Id<'policy'>;
  readonly ownerId: string;
  readonly terms: Partial<PolicyTerms> & Pick<PolicyTerms, 'name'>;
};

/** A repeat of the same request finds the template it made. */
export async function createTemplate(tx: Tx, cause: Cause, { newId, ownerId, terms }: NewTemplate): Promise<PolicyRow> {
  const known = await tx.findOne(PolicyRow, { id: newId, ownerId });
  if (known !== null) return known;
  await assertBelowLimit(tx, 'policies', { ownerId, subject: ownerId, at: cause.at });
  const row = insert(tx, cause, { id: newId, ownerId, agentId: null }, { ...defaultTerms, ...terms });
  await tx.flush();
  await keepVersion(tx, row, cause);
  await recordChanges(tx, cause, [changeOf(row, 'policy.created')]);
  return row;
}

/** `of`: a policy's own id, or the agent whose policy it is. */
export type PolicyName = TemplateName | HolderName;
type HolderName = { readonly agentId: ReachedId<'agent'>; readonly ownerId: string };
type TemplateName = { readonly id: ReachedId<'policy'>; readonly ownerId: string };

/** Fields left out stay as they are. An expiry counts from here. The same cause changes a policy once. */
export async function changePolicy(
  tx: Tx,
  cause: Cause,
  of: PolicyName,
  terms: Partial<PolicyTerms>,
): Promise<PolicyRow> {
  const row = await lockPolicy(tx, of);
  if (await hasMoved(tx, 'policy', row.id, cause.causeId)) return row;
  const from = `version ${row.version}`;
  Object.assign(row, terms);
  row.version += 1;
  row.updatedAt = cause.at;
  row.expiredAt = null;
  await tx.flush();
  await keepVersion(tx, row, cause);
  await keepExpiryWorkflow(tx, row, cause.at);
  await recordTransition(tx, 'policy', row.id, { from, to: `version ${row.version}` }, cause);
  await recordChanges(tx, cause, [
    changeOf(row, 'policy.updated', { fields: Object.keys(terms), version: row.version }),
  ]);
  return row;
}

export function presetNamed(name: string): Preset {
  if (!isPresetId(name)) throw notFound('preset', `${name}; there are ${presetIds.join(', ')}`);
  return presets[name];
}

export type RulesSource = { readonly presetId: PresetId } | { readonly policyId: string };

/** Overwrites all rules of an agent with a preset's or another policy's. */
export async function applyRules(tx: Tx, cause: Cause, of: HolderName, source: RulesSource): Promise<PolicyRow> {
  const terms =
    'presetId' in source ? presets[source.presetId].terms : await termsOfPolicy(tx, of.ownerId, source.policyId);
  return changePolicy(tx, cause, of, terms);
}

/** Sending an agent's record back with its own policy is no change and restarts no expiry. */
export async function replaceRules(
  tx: Tx,
  cause: Cause,
  { agentId, ownerId, policyId }: HolderName & { readonly policyId: string },
): Promise<void> {
  const own = await lockPolicy(tx, { agentId, ownerId });
  if (own.id !== policyId) await applyRules(tx, cause, { agentId, ownerId }, { policyId });
}

export async function deleteTemplate(tx: Tx, cause: Cause, { id, ownerId }: TemplateName): Promise<void> {
  const row = await lockPolicy(tx, { id, ownerId });
  if ((row.agentId ?? null) !== null) {
    throw new DomainError(
      'invalid_state',
      `policy ${id} is the policy of agent ${row.agentId}; close the agent to remove it`,
    );
  }
  await remove(tx, cause, row);
}

export type PolicyCopy = {
  readonly newId: Id<'policy'>;
  readonly ownerId: string;
  readonly agentId: string;
  /** Whose rules are copied; without it the owner's default, without that the preset `balanced`. */
  readonly policyId?: string | undefined;
};

/**
 * Gives a new agent its policy, within the transaction that creates the agent. It fires nothing: `agent.created`
 * tells it, once the agent is there.
 */
export async function copyPolicyFor(
  tx: Tx,
  cause: Cause,
  { newId, ownerId, agentId, policyId }: PolicyCopy,
): Promise<PolicyRow> {
  const known = await tx.findOne(PolicyRow, { agentId });
  if (known !== null) return known;
  const terms =
    policyId === undefined
      ? ((await ownersDefault(tx, ownerId)) ?? presets[fallbackPreset].terms)
      : await termsOfPolicy(tx, ownerId, policyId);
  const row = insert(tx, cause, { id: newId, ownerId, agentId }, terms);
  await tx.flush();
  await keepVersion(tx, row, cause);
  await keepExpiryWorkflow(tx, row, cause.at);
  return row;
}

/** Part of the revoking command that closes an agent. Nothing happens where it is gone already. */
export async function removePolicyOf(tx: Tx, cause: Cause, agentId: string): Promise<void> {
  const row = await tx.findOne(
    PolicyRow,
    { agentId, removedAt: null },
    { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  );
  if (row !== null) await remove(tx, cause, row);
}

async function remove(tx: Tx, cause: Cause, row: PolicyRow): Promise<void> {
  row.removedAt = cause.at;
  await tx.flush();
  await keepExpiryWorkflow(tx, row, cause.at);
  await recordChanges(tx, cause, [changeOf(row, 'policy.deleted')]);
}

async function lockPolicy(tx: Tx, of: PolicyName): Promise<PolicyRow> {
  const options = { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true } as const;
  const row = await tx.findOne(PolicyRow, { ...of, removedAt: null }, options);
  if (row === null) throw 'id' in of ? notFound('policy', of.id) : notFound('policy of agent', of.agentId);
  return row;
}

async function termsOfPolicy(tx: Tx, ownerId: string, policyId: string): Promise<PolicyTerms> {
  const row = await tx.findOne(PolicyRow, { id: policyId as PolicyRow['id'], ownerId, removedAt: null });
  if (row === null) throw new DomainError('invalid_request', `policyId: you have no policy ${policyId}`);
  return termsOf(row);
}

const defaultLimits = query((from, given: Given<{ ownerId: string }>) =>
  from.selectFrom('customers').select('defaultPolicy').where('ownerId', '=', given('ownerId')),
);

/** The four limits that an owner may have set for new agents. */
async function ownersDefault(tx: Tx, ownerId: string): Promise<PolicyTerms | undefined> {
  const limits = (await defaultLimits.first(tx, { ownerId }))?.defaultPolicy ?? null;
  return limits === null ? undefined : { ...defaultTerms, ...limits, name: 'Default' };
}

type Holder = { readonly id: Id<'policy'>; readonly ownerId: string; readonly agentId: string | null };

const insert = (tx: Tx, { at }: Cause, holder: Holder, terms: PolicyTerms): PolicyRow =>
  tx.create(PolicyRow, {
    ...terms,
    maxTransactionCents: centsOrNull(terms.maxTransactionCents),
    dailyLimitCents: centsOrNull(terms.dailyLimitCents),
    monthlyLimitCents: centsOrNull(terms.monthlyLimitCents),
    autoApproveLimitCents: centsOrNull(terms.autoApproveLimitCents),
    merchantAllowlist: [...terms.merchantAllowlist],
    merchantBlocklist: [...terms.merchantBlocklist],
    mccCategories: [...terms.mccCategories],
    allowedMccs: [...terms.allowedMccs],
    blockedMccs: [...terms.blockedMccs],
    allowedCountries: [...terms.allowedCountries],
    ...holder,
    version: 1,
    createdAt: at,
    updatedAt: at,
    expiredAt: null,
    removedAt: null,
  });

const changeOf = (
  row: PolicyRow,
  event: 'policy.created' | 'policy.updated' | 'policy.deleted',
  details: Record<string, unknown> = {},
) => ({
  event,
  ownerId: row.ownerId,
  agentId: row.agentId ?? null,
  subjectId: row.id,
  data: policyEventData(row),
  details,
});
