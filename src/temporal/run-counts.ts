/** How many runs each of the operators' lists has, asked of the server. @module */
import type { Temporal } from './connection.ts';
import { type RunList, runLists } from './run-lists.ts';

export type RunCount = { readonly list: RunList['name']; readonly count: number };

const answeredWithinMs = 5_000;

/** Throws when Temporal is away: no count is not a count of none. */
export async function countRuns(temporal: Pick<Temporal, 'client'>): Promise<RunCount[]> {
  const client = await temporal.client();
  return client.withDeadline(Date.now() + answeredWithinMs, () =>
    Promise.all(
      runLists.map(async ({ name, query }) => ({ list: name, count: (await client.workflow.count(query)).count })),
    ),
  );
}
