/** What a bank says of transfers, booked many at once: each news once, in any order, and the ledger agrees. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { available, held, wallet } from '../../src/domains/treasury/ledger/account.rules.ts';
import type { HeardMessage } from '../../src/domains/treasury/sepa/bank-rail.port.ts';
import { endToEndIdOf } from '../../src/domains/treasury/sepa/end-to-end-id.rules.ts';
import { createBankTransfer } from '../../src/domains/treasury/transfers/bank-transfer.create.service.ts';
import { lockBankTransfer } from '../../src/domains/treasury/transfers/bank-transfer.queries.ts';
import { inStage, saveSteps } from '../../src/domains/treasury/transfers/bank-transfer.service.ts';
import { germanIban } from '../../src/domains/treasury/wallets/iban.rules.ts';
import { type Id, newId } from '../../src/kernel/ids.ts';
import { cents } from '../../src/kernel/money.ts';
import { hearBankMessages } from '../../src/usecases/treasury/hear-bank-messages.ts';
import { at, type Book, because, openBook } from './book.ts';

let book: Book;
beforeAll(async () => {
  book = await openBook();
});
afterAll(() => book.close());

const iban = germanIban('99999999', 1);

async function aPayer(fundsCents = 100_000) {
  const { ownerId, walletId } = await book.owner();
  await book.fund(ownerId, walletId, fundsCents);
  const beneficiaryId = newId('beneficiary');
  await book.asOwner(
    `insert into beneficiaries (id, owner_id, name, sealed_iban, iban_masked, country, agents_may_pay, status,
       screening_result, screening_list, matches, dismissals, screened_at, request_id, created_at, updated_at)
     values ($1, $2, 'Erika Muster', 'sealed', 'DE00', 'DE', false, 'active', 'clear', 'none', '[]', '[]', $3, 'r', $3, $3)`,
    [beneficiaryId, ownerId, at],
  );
  return { ownerId, walletId, beneficiaryId };
}
type Payer = Awaited<ReturnType<typeof aPayer>>;

async function sent({ ownerId, walletId, beneficiaryId }: Payer, amountCents = 1_000): Promise<Id<'transfer'>> {
  const id = newId('transfer');
  const cause = because(id);
  await book.database.write(async (tx) => {
    await createBankTransfer(tx, cause, {
      ...{ id, journalId: newId('journal'), ownerId, agentId: null, source: wallet(walletId) },
      payer: { walletId, iban },
      payee: { beneficiaryId, name: 'Erika Muster', ibanMasked: 'DE00' },
      ...{ amountCents: cents(amountCents), scheme: 'instant', reference: undefined, remittance: null },
      ...{ memo: undefined, metadata: undefined, approvalRule: null },
    });
    const before = await lockBankTransfer(tx, id);
    const after = inStage(before, 'sending', at, { sendingCause: 'test', sendUntil: at });
    await saveSteps(tx, [{ before, after, cause: because('mark') }]);
  });
  return id;
}

const says = (id: Id<'transfer'>, kind: HeardMessage['kind'], more: Partial<HeardMessage> = {}): HeardMessage => ({
  endToEndId: endToEndIdOf(id),
  kind,
  cause: `${kind}-${id}`,
  reasonCode: null,
  amountCents: null,
  accountIban: null,
  ...more,
});

const hear = (messages: readonly HeardMessage[]) =>
  book.database.write((tx) => hearBankMessages(tx, messages, because('file')));

const balances = async ({ ownerId, walletId }: Payer) => {
  const rows = await book.rows('select name, balance_cents from ledger_accounts where owner_id = $1', [ownerId]);
  const of = (account: string) => Number(rows.find(({ name }) => name === account)?.balance_cents ?? 0);
  return { available: of(available(wallet(walletId))), held: of(held(wallet(walletId))) };
};

const holdsAgree = async ({ ownerId }: Payer) =>
  expect(
    await book.rows(
      `select * from (select account, sum(held_cents) as held from open_holds($1) group by account) h
       full join (select name, balance_cents from ledger_accounts where owner_id = $1 and name like '%:held') a
         on a.name = h.account where coalesce(held, 0) <> coalesce(balance_cents, 0)`,
      [ownerId],
    ),
  ).toEqual([]);

describe('a message of the bank', () => {
  test('moves the money once: settled, then returned, and repeats move nothing', async () => {
    const payer = await aPayer();
    const id = await sent(payer);
    expect(await balances(payer)).toEqual({ available: 99_000, held: 1_000 });
    expect(await hear([says(id, 'settled'), says(id, 'settled')])).toEqual([
      { outcome: 'moved' },
      { outcome: 'already' },
    ]);
    expect(await balances(payer)).toEqual({ available: 99_000, held: 0 });
    const returned = says(id, 'returned', { reasonCode: 'MD07' });
    expect(await hear([returned])).toEqual([{ outcome: 'moved' }]);
    expect(await hear([says(id, 'settled'), returned])).toEqual([{ outcome: 'already' }, { outcome: 'already' }]);
    expect(await balances(payer)).toEqual({ available: 100_000, held: 0 });
    const [row] = await book.rows('select status, stage, failure_reason, completed_at from transfers where id = $1', [
      id,
    ]);
    expect(row).toEqual({ status: 'returned', stage: 'returned', failure_reason: 'returned:MD07', completed_at: at });
    const events = await book.rows('select name from events where subject_id = $1 order by seq', [id]);
    expect(events.map(({ name }) => name)).toEqual([
      'transfer.created',
      'transfer.updated',
      'transfer.completed',
      'transfer.failed',
    ]);
    await holdsAgree(payer);
  });

  test('a rejection releases the hold, and a return that overtook the debit books both', async () => {
    const payer = await aPayer();
    const [rejected, overtaken] = [await sent(payer, 300), await sent(payer, 500)];
    await hear([
      says(rejected, 'rejected', { reasonCode: 'AC04' }),
      says(overtaken, 'returned', { reasonCode: 'AC01' }),
    ]);
    expect(await balances(payer)).toEqual({ available: 100_000, held: 0 });
    const journals = await book.rows('select cause from journals where reference_id = any($1) order by cause', [
      [rejected, overtaken],
    ]);
    expect(journals.map(({ cause }) => cause)).toEqual(
      [
        ...['hold', 'release'].map((part) => `transfer:${rejected}:${part}`),
        ...['hold', 'pay', 'takeBack'].map((part) => `transfer:${overtaken}:${part}`),
      ].sort(),
    );
    expect(await hear([says(overtaken, 'settled')])).toEqual([{ outcome: 'already' }]);
    expect(await hear([says(rejected, 'settled')])).toMatchObject([{ outcome: 'refused' }]);
    await holdsAgree(payer);
  });

  test('moves nothing with another amount, another account, or for no transfer', async () => {
    const payer = await aPayer();
    const id = await sent(payer);
    const unknown = says(newId('transfer'), 'settled');
    expect(
      await hear([
        says(id, 'settled', { amountCents: cents(999) }),
        says(id, 'settled', { accountIban: germanIban('99999999', 2) }),
        unknown,
        { ...unknown, endToEndId: 'NOTPROVIDED' },
      ]),
    ).toMatchObject([{ outcome: 'refused' }, { outcome: 'refused' }, { outcome: 'not_ours' }, { outcome: 'not_ours' }]);
    expect(await balances(payer)).toEqual({ available: 99_000, held: 1_000 });
  });

  test('goes to the default wallet where the wallet was closed meanwhile', async () => {
    const payer = await aPayer();
    const other = await book.wallet(payer.ownerId);
    await book.asOwner('update wallets set is_default = (id = $2) where owner_id = $1', [payer.ownerId, other]);
    const id = await sent(payer, 700);
    await hear([says(id, 'settled')]);
    await book.asOwner(`update wallets set status = 'closed', closed_at = created_at where id = $1`, [payer.walletId]);
    await hear([says(id, 'returned')]);
    expect(await balances({ ...payer, walletId: other })).toEqual({ available: 700, held: 0 });
  });
});

test('messages of many transfers are booked together', async () => {
  const payer = await aPayer();
  const ids: Id<'transfer'>[] = [];
  for (let count = 0; count < 20; count++) ids.push(await sent(payer, 10));
  const both = ids.flatMap((id) => [says(id, 'accepted'), says(id, 'settled')]);
  expect(new Set((await hear(both)).map(({ outcome }) => outcome))).toEqual(new Set(['moved']));
  expect(await balances(payer)).toEqual({ available: 99_800, held: 0 });
  const runs = await book.rows('select count(*)::int as woken from workflow_runs where owner_id = $1 and wanted_wake', [
    payer.ownerId,
  ]);
  expect(runs).toEqual([{ woken: 20 }]);
  await holdsAgree(payer);
});
