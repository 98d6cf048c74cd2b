/** The funding source of a transaction, as stored with it: `wallet:wal_…` or `agent:ag_…`. Pure. @module */
import { assert } from '../../../kernel/assert.ts';
import type { FundingSource } from '../../treasury/ledger/account.rules.ts';

export function fundingSourceOf(stored: string | null | undefined): FundingSource {
  const [kind, id] = (stored ?? '').split(':');
  assert(
    (kind === 'wallet' || kind === 'agent') && id !== undefined,
    'a transaction that moves money names its funding source',
  );
  return { kind, id };
}
