/**
 * Goal: a domain is entered by its public interface only. Method: imports from the `index.ts` files, and the tables named
 * in the SQL of each domain against the owners in `src/main/modules`.
 * @module
 */
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { ownerOfTable } from '../../src/main/modules/index.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

async function filesBelow(folder: string, ending: string): Promise<{ path: string; text: string }[]> {
  const paths = (await readdir(join(root, folder), { recursive: true })).filter((path) => path.endsWith(ending));
  return Promise.all(
    paths.map(async (path) => ({
      path: `${folder}/${path}`,
      text: await readFile(join(root, folder, path), 'utf8'),
    })),
  );
}

/** The names that an import takes: `type A, b as c` -> `A`, `b`. */
const namesIn = (list: string): string[] =>
  list.split(',').flatMap((part) => /^\s*(?:type )?(\w+)/.exec(part)?.[1] ?? []);
/** The names that an export offers: `type A, b as c` -> `A`, `c`. */
const offeredIn = (list: string): string[] => list.split(',').flatMap((part) => /(\w+)\s*$/.exec(part)?.[1] ?? []);

test('each export of a domain is imported by another domain', async () => {
  const files = await filesBelow('src/domains', '.ts');
  const imported = new Set<string>();
  for (const { path, text } of files) {
    for (const [, list = '', from = ''] of text.matchAll(
      /(?:import|export)\s+(?:type )?\{([^}]*)\}\s+from '(\.[^']+)'/g,
    )) {
      const target = normalize(join(dirname(path), from));
      if (path.startsWith(`${dirname(target)}/`)) continue;
      for (const name of namesIn(list)) imported.add(`${target}: ${name}`);
    }
  }
  const exportedBy = (text: string): string[] =>
    [...text.matchAll(/export (?:type )?\{([^}]*)\}/g)].flatMap(([, list = '']) => offeredIn(list));
  const indices = files.filter(({ path }) => /^src\/domains\/.*\/index\.ts$/.test(path));
  expect(indices.filter(({ text }) => exportedBy(text).length === 0).map(({ path }) => path)).toEqual([]);
  const exported = indices.flatMap(({ path, text }) => exportedBy(text).map((name) => `${path}: ${name}`));
  expect(exported.filter((name) => !imported.has(name))).toEqual([]);
});

/**
 * Tables of other domains that a domain names in its SQL, each with the reason. The platform's tables are below all
 * domains; src/usecases and src/db/functions may name any table, because they are what spans domains.
 */
const exceptions: Readonly<Record<string, string>> = {
  'cards/cards/card.holder.service.ts agents': 'locks the agent before its cards, in the one order of locks',
  'cards/cards/card.queries.ts agents': 'a list of cards shows the name of the agent; one statement for a page',
  'payments/network/network-message.service.ts cards':
    'asks whether a card reference is known, on the path of the network',
  'payments/transactions/booking.posting.service.ts agents': 'a closed agent gives what is released back to its wallet',
  'payments/transactions/transaction.queries.ts customers':
    'the plan limits how far back a list reads; one statement for a page',
  'spending/intents/intent.attestation.service.ts transactions':
    'voids attestations in one statement, but for paid intents',
  'spending/policies/policy.queries.ts agents': 'the policy of an agent, with its owner and status, under one lock',
  'spending/policies/policy.service.ts customers': 'the default policy of the owner begins an agent',
  'treasury/transfers/bank-transfer.service.ts agents':
    'money of a closed agent that comes back goes to its wallet; one statement for many',
  'treasury/wallets/wallet.queries.ts agents': 'the wallet that an agent draws on',
  'treasury/wallets/wallet.service.ts agents': 'a wallet that agents draw on cannot be closed',
  'treasury/wallets/wallet.service.ts customers': 'locks the owner while the default wallet changes',
};

const tables = [...ownerOfTable.keys()].join('|');
const named = new RegExp(
  `\\b(?:from|join|into|update)\\s+(?:only |public\\.)?(${tables})\\b(?!\\()|(?:selectFrom|[jJ]oin|insertInto|updateTable|deleteFrom)\\(\\s*'(${tables})\\b`,
  'g',
);
const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|^import[^;]*;|\/\/.*$|--.*$/gm, '');
const tablesIn = (text: string): string[] => [
  ...new Set([...withoutComments(text).matchAll(named)].map(([, inSql, typed]) => inSql ?? typed ?? '')),
];

test('a domain names the table of another domain in its SQL only where a reason is given', async () => {
  const files = await filesBelow('src/domains', '.ts');
  const foreign = files.flatMap(({ path, text }) => {
    const [domain] = path.slice('src/domains/'.length).split('/');
    return tablesIn(text)
      .filter((table) => ![domain, 'platform'].includes(ownerOfTable.get(table)))
      .map((table) => `${path.slice('src/domains/'.length)} ${table}`);
  });
  expect(foreign.toSorted()).toEqual(Object.keys(exceptions).toSorted());
});

/** Functions that one domain calls, or the platform. The others span domains: the decision and its locks, whose an account is, what is held, fundings with the owner's limit. */
const ownerOfFunctions: Readonly<Record<string, string>> = {
  'atomic-writes.sql': 'platform',
  'claim-runs.sql': 'platform',
  'limits.sql': 'platform',
  'lock-accounts.sql': 'treasury',
  'post-journals.sql': 'treasury',
  'purge-audit-addresses.sql': 'platform',
  'record-changes.sql': 'platform',
};

test('a SQL function of one domain names only that domain’s tables', async () => {
  const files = await filesBelow('src/db/functions', '.sql');
  const foreign = files.flatMap(({ path, text }) => {
    const owner = ownerOfFunctions[path.slice('src/db/functions/'.length)];
    if (owner === undefined) return [];
    return tablesIn(text)
      .filter((table) => ![owner, 'platform'].includes(ownerOfTable.get(table) ?? ''))
      .map((table) => `${path} ${table}`);
  });
  expect(foreign).toEqual([]);
});
