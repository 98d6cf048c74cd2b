/** Card requests as their callers see them, with the approver's link where the caller may have it. Changes nothing. @module */
import type { Database } from '../../../db/database.ts';
import type { Call } from '../../../http/caller.ts';
import type { ApprovalLinks } from '../../identity/approvals/index.ts';
import type { CardRequestWire } from './card-request.contract.ts';
import type { CardRequestRow } from './card-request.entity.ts';
import { cardRequestWire } from './card-request.wire.ts';

type Deps = { readonly database: Pick<Database, 'read'>; readonly links: Pick<ApprovalLinks, 'urlsOf'> };

/** An agent never gets the link under which its request is decided. */
export async function cardRequestRecords(
  { database, links }: Deps,
  found: readonly Readonly<CardRequestRow>[],
  { caller, now }: Pick<Call, 'caller' | 'now'>,
): Promise<(row: Readonly<CardRequestRow>) => CardRequestWire> {
  const waiting = found.filter(({ status }) => status === 'pending').map(({ id }) => id);
  const ids = caller.kind === 'key' ? waiting : [];
  const urls = await links.urlsOf(database.read(), ids);
  const at = await now();
  return (row) => cardRequestWire(row, at, urls.get(row.id) ?? null);
}
