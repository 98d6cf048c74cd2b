/**
 * Replaces the key with which an agent signs its requests, in one transaction. A repeat of the same request finds the key
 * that it made.
 * @module
 */
import type { Database } from '../../db/database.ts';
import {
  type RotatedAgentKey,
  rotateAgentSigningKey,
} from '../../domains/identity/well-known/signing-key-end.service.ts';
import type { ReachedAgent } from '../../domains/parties/agents/agent.routes.ts';
import { isFinalAgent } from '../../domains/parties/agents/agent.rules.ts';
import { ownedRow, recordRotatedKey } from '../../domains/parties/agents/agent.service.ts';
import { DomainError } from '../../kernel/errors.ts';
import type { Cause } from '../../platform/cause.ts';
import type { Vault } from '../../vault/vault.ts';

type Deps = { readonly database: Database; readonly vault: Vault };

export const rotateAgentKey =
  ({ database, vault }: Deps) =>
  (order: ReachedAgent & { readonly overlapMs: number }, cause: Cause): Promise<Omit<RotatedAgentKey, 'isNew'>> =>
    database.write(async (tx) => {
      const row = await ownedRow(tx, order);
      if (isFinalAgent(row.status))
        throw new DomainError('invalid_state', 'this agent is closed for good: its key is not published any more');
      const timing = { overlapMs: order.overlapMs, now: new Date() };
      const { isNew, ...rotated } = await rotateAgentSigningKey(tx, vault, order.agentId, timing, cause);
      const { kid, formerKid } = rotated;
      if (isNew) await recordRotatedKey(tx, cause, row, { kid, formerKid, overlapMs: order.overlapMs });
      return rotated;
    });
