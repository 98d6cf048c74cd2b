/** What a bank's files say of transfers, over HTTP. @module */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { wallet } from '../../../src/domains/treasury/ledger/account.rules.ts';
import { endToEndIdOf } from '../../../src/domains/treasury/sepa/end-to-end-id.rules.ts';
import { createBankTransfer } from '../../../src/domains/treasury/transfers/bank-transfer.create.service.ts';
import { lockBankTransfer } from '../../../src/domains/treasury/transfers/bank-transfer.queries.ts';
import { inStage, saveSteps } from '../../../src/domains/treasury/transfers/bank-transfer.service.ts';
import { walletsArea } from '../../../src/domains/treasury/wallets/wallet.contract.ts';
import { type Id, newId } from '../../../src/kernel/ids.ts';
import { cents } from '../../../src/kernel/money.ts';
import { freshReference, notificationOf, sendBankFile, statusesOf } from '../../support/bank-files.ts';
import { aBeneficiary } from '../../support/factories/beneficiaries.ts';
import { inDatabase } from '../../support/payments-world.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

test('a debit settles a transfer, a status rejects one, and a return brings the money back: each once', async () => {
  const owner = await world.owner();
  const wallets = owner.client(walletsArea);
  const { id, iban: given } = await wallets.createWallet({ body: { name: 'Rent' } });
  const iban = given ?? '';
  const balance = async () => (await wallets.getWalletBalance({ params: { id } })).availableEuros;
  const send = (xml: string) => sendBankFile(world, xml);
  await send(notificationOf([{ amount: '100.00' }], iban));
  const { id: beneficiaryId } = await aBeneficiary(owner, {});
  const sent = () => sentTransfer({ ownerId: owner.ownerId, walletId: id, iban, beneficiaryId });
  const [paid, rejected] = [await sent(), await sent()];
  expect(await balance()).toBe(75);
  const [left, back] = [freshReference(), freshReference()];
  const settled = notificationOf([{ direction: 'DBIT', reference: left, endToEndId: paid }], iban);
  expect(await send(settled)).toMatchObject({ body: { moved: 1, unbooked: 0 } });
  const statuses = [
    { endToEndId: paid, status: 'ACSP' },
    { endToEndId: rejected, status: 'ACSP' },
    { endToEndId: rejected, status: 'RJCT', reason: 'AC04' },
  ];
  expect(await send(statusesOf(statuses))).toMatchObject({ body: { moved: 2, already: 1 } });
  expect(await balance()).toBe(87.5);
  const returned = { reference: back, endToEndId: paid, returnReason: 'MD07' };
  expect(await send(notificationOf([returned], iban))).toMatchObject({ body: { moved: 1, suspense: 0 } });
  expect(await balance()).toBe(100);
  const again = { ...returned, reference: freshReference() };
  const repeated = await send(notificationOf([returned, again, { ...again, amount: '9.00' }], iban));
  expect(repeated).toMatchObject({ body: { moved: 0, already: 2, suspense: 1 } });
  expect(await balance()).toBe(100);
});
/** As the bank has it: its end-to-end id. */
async function sentTransfer(payer: {
  ownerId: string;
  walletId: string;
  iban: string;
  beneficiaryId: string;
}): Promise<string> {
  const id = newId('transfer');
  const at = new Date();
  const cause = { causeId: id, requestId: 'test', actor: { kind: 'system' }, at } as const;
  const { walletId, iban } = payer;
  await inDatabase(world, (database) =>
    database.write(async (tx) => {
      await createBankTransfer(tx, cause, {
        ...{ id, journalId: newId('journal'), ownerId: payer.ownerId as Id<'owner'>, agentId: null },
        source: wallet(walletId),
        payer: { walletId: walletId as Id<'wallet'>, iban },
        payee: { beneficiaryId: payer.beneficiaryId as Id<'beneficiary'>, name: 'Erika Muster', ibanMasked: 'DE00' },
        ...{ amountCents: cents(12_50), scheme: 'instant', reference: undefined, remittance: null },
        ...{ memo: undefined, metadata: undefined, approvalRule: null },
      });
      const before = await lockBankTransfer(tx, id);
      const after = inStage(before, 'sending', at, { sendingCause: 'test', sendUntil: at });
      await saveSteps(tx, [{ before, after, cause: { ...cause, causeId: 'mark' } }]);
    }),
  );
  return endToEndIdOf(id);
}
