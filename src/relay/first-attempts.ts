/**
 * A claim of first attempts in its steps, each with a commit of its own: what one has claimed is sent although the next
 * one fails. Sends nothing.
 * @module
 */
import type { Database } from '../db/database.ts';
import {
  type Circumstances,
  type Claimed,
  type ClaimLimits,
  claimCrowded,
  claimFirstAttempts,
  endLost,
  type FirstAttempts,
} from '../domains/delivery/webhooks/delivery.claim.service.ts';

export async function claimInSteps(
  database: Pick<Database, 'read' | 'write'>,
  most: number,
  limits: ClaimLimits,
  circumstances: Circumstances = {},
  take: (claimed: readonly Claimed[]) => void = () => undefined,
): Promise<FirstAttempts> {
  const { claimed, lost, crowded } = await claimFirstAttempts(database.read(), most, limits, circumstances);
  take(claimed);
  if (lost.length > 0) await database.write((tx) => endLost(tx, lost));
  if (crowded.length === 0) return { claimed, hasMore: lost.length > 0 };
  const left = most - claimed.length;
  const ordered = await database.write((tx) => claimCrowded(tx, crowded, { most, left }, limits, circumstances));
  take(ordered.claimed);
  return { claimed: [...claimed, ...ordered.claimed], hasMore: lost.length > 0 || ordered.hasMore };
}
