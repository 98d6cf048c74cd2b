/**
 * Makes the proof that a journal, an audit row or the decision about a transaction is under a signed checkpoint, in one
 * snapshot of the database. The form of the id says which of them it is.
 * @module
 */
import * as z from 'zod';
import type { Database } from '../../db/database.ts';
import { rowsOf } from '../../db/statement.ts';
import type { Tx } from '../../db/tx.ts';
import type { Proof } from '../../domains/treasury/ledger/proof.rules.ts';
import { proofOfJournal, proofOfRecord } from '../../domains/treasury/ledger/prove.service.ts';
import { DomainError } from '../../kernel/errors.ts';
import type { RecordChain } from '../../platform/record-chains/record-chain.ts';

type Deps = { readonly database: Database; readonly chains: readonly RecordChain[] };

/** `id`: `jr_…` a journal, `aud_…` an audit row, `tx_…` a transaction with one decision, digits the number of a decision. */
export const proveRecord =
  ({ database, chains }: Deps) =>
  async (id: string): Promise<Proof> => {
    const chainOf = (name: RecordChain['name']): RecordChain => {
      const chain = chains.find((one) => one.name === name);
      if (chain === undefined) throw new Error(`there is no chain ${name}`);
      return chain;
    };
    if (id.startsWith('jr_')) return database.write((tx) => proofOfJournal(tx, id));
    if (id.startsWith('aud_')) return database.write((tx) => proofOfRecord(tx, chainOf('audit'), id));
    const number = id.startsWith('tx_') ? await decisionOf(database.read(), id) : id;
    if (!/^\d{1,18}$/.test(number))
      throw new DomainError('invalid_request', `${id}: name a journal jr_…, an audit row aud_… or a transaction tx_…`);
    return database.write((tx) => proofOfRecord(tx, chainOf('decisions'), number));
  };

async function decisionOf(tx: Tx, transactionId: string): Promise<string> {
  const found = await rowsOf(
    tx,
    z.object({ seq: z.string() }),
    'select seq::text as seq from decisions where transaction_id = $1 order by decisions.seq',
    [transactionId],
  );
  const [only, ...more] = found.map(({ seq }) => seq);
  if (only === undefined) throw new DomainError('not_found', `there is no decision about ${transactionId}`);
  if (more.length > 0)
    throw new DomainError(
      'invalid_request',
      `there are several decisions about ${transactionId}: name one of ${[only, ...more].join(', ')}`,
    );
  return only;
}
