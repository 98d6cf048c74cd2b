/**
 * Intents as their callers see them: the status at this instant, the highest charge, and the approver's link where the
 * caller may have it. Changes nothing.
 * @module
 */
import type { Database } from '../../../db/database.ts';
import type { Call } from '../../../http/caller.ts';
import { eurosFromCents } from '../../../kernel/money.ts';
import type { ApprovalLinks } from '../../identity/approvals/index.ts';
import { isFinalIntent, statusAsOf } from './intent.rules.ts';
import { stateOf } from './intent.state.service.ts';
import { intentWire, type PublishedIntent } from './intent.wire.ts';
import type { IntentWire } from './intent-shapes.contract.ts';
import { maxChargeCentsOf } from './max-charge.queries.ts';

type Deps = { readonly database: Pick<Database, 'read'>; readonly links: Pick<ApprovalLinks, 'urlsOf'> };

/**
 * An agent never gets the approver's link. Past its deadline an intent is returned as expired, whether or not its
 * workflow run has marked it yet.
 */
export async function intentRecords(
  { database, links }: Deps,
  found: readonly PublishedIntent[],
  { caller, now }: Pick<Call, 'caller' | 'now'>,
): Promise<(row: PublishedIntent) => IntentWire> {
  const at = found.every(({ status }) => isFinalIntent(status)) ? undefined : await now();
  const statusOf = (row: PublishedIntent) => (at === undefined ? row.status : statusAsOf(stateOf(row), at));
  const waiting = found.filter((row) => statusOf(row) === 'pending_approval');
  const most = await maxChargeCentsOf(database.read(), waiting);
  const ids = caller.kind === 'key' ? waiting.map(({ id }) => id) : [];
  const urls = ids.length === 0 ? undefined : await links.urlsOf(database.read(), ids);
  return (row) => {
    const [wire, status] = [intentWire(row), statusOf(row)];
    return Object.assign(wire, {
      status,
      window: status === 'approved' ? wire.window : null,
      maxChargeEuros: status === 'pending_approval' ? eurosFromCents(most(row)) : null,
      approvalUrl: urls?.get(row.id) ?? null,
    });
  };
}
