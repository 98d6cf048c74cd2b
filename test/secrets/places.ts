/** Everything that an installation writes down, each place as one text: for looking for what must not be there. @module */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
// biome-ignore lint/correctness/noUnresolvedImports: part of Node since 22.5, which the linter does not list yet
import { DatabaseSync } from 'node:sqlite';
import type { ChildMark } from '../../src/supervisor/pids.ts';
import type { Installation } from '../support/installation.ts';
import { openTemporal } from '../support/operator-view.ts';
import { textOf } from '../workflows/operator/history-text.ts';

/** By name of the place: `table idempotency`, `history intent/int_…`, `log api.log`. */
export type Places = ReadonlyMap<string, string>;

type Temporal = { readonly address: string; readonly namespace?: string };

/** `temporal`: where it can be asked, if not at the installation's own address. */
export async function placesOf(installation: Installation, temporal?: Temporal): Promise<Places> {
  return new Map([
    ...(await tablesOf(installation)),
    ...(await historiesOf(temporal ?? { address: installation.ready.temporalAddress })),
    ...(await logsOf(installation)),
    ...(await commandLinesOf(installation)),
    ['what the start said', installation.said.join('\n')],
  ]);
}

/** Every row of every table, as text. */
async function tablesOf({ sql }: Installation): Promise<[string, string][]> {
  const tables = await sql<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema') order by 1`,
  );
  const dumps: [string, string][] = [];
  for (const { name } of tables) {
    const found = await sql<{ row: string }>(`select t::text as row from ${name} t`);
    dumps.push([`table ${name.replace('public.', '')}`, found.map(({ row }) => row).join('\n')]);
  }
  return dumps;
}

async function historiesOf({ address, namespace }: Temporal): Promise<[string, string][]> {
  const temporal = await openTemporal(address, namespace);
  const texts: [string, string][] = [];
  // The probe of the setup is deleted again, and may be listed a moment longer than it exists.
  const query = "WorkflowType != 'bursar-setup-probe'";
  for await (const { workflowId, runId } of temporal.client.workflow.list({ query })) {
    const handle = temporal.client.workflow.getHandle(workflowId, runId);
    texts.push([`history ${workflowId}`, textOf(await handle.fetchHistory())]);
    const { raw } = await handle.describe();
    texts.push([`description ${workflowId}`, textOf(raw as object)]);
    const shown = await handle.query<unknown>('__temporal_workflow_metadata');
    texts.push([`details ${workflowId}`, JSON.stringify(shown)]);
  }
  await temporal.close();
  return texts;
}

async function logsOf({ dir }: Installation): Promise<[string, string][]> {
  const names = await readdir(join(dir, 'logs'));
  return Promise.all(
    names.map(
      async (name): Promise<[string, string]> => [`log ${name}`, await readFile(join(dir, 'logs', name), 'utf8')],
    ),
  );
}

/** Every user that may list processes can read these. */
async function commandLinesOf({ dir }: Installation): Promise<[string, string][]> {
  const { children } = JSON.parse(await readFile(join(dir, 'pids.json'), 'utf8')) as { children: ChildMark[] };
  return Promise.all(
    children.map(
      async ({ name, pid }): Promise<[string, string]> => [
        `command line of ${name}`,
        await readFile(`/proc/${pid}/cmdline`, 'utf8'),
      ],
    ),
  );
}

/** The payment tokens that the processor has minted: the outside world's own store, no place of ours. */
export function mintedTokens({ dir }: Installation): string[] {
  const store = new DatabaseSync(join(dir, 'sandbox.sqlite'), { readOnly: true });
  const tokens = store.prepare('select token from tokens').all() as { token: string }[];
  store.close();
  return tokens.map(({ token }) => token);
}
