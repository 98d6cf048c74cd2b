/**
 * Goal: no caller makes a transaction wait on a row, or changes one, by an id that the edge has not checked. Method:
 * follows the source from every read that locks to the handlers and use cases that pass it an id. Activities are left
 * out: a workflow run names its own row.
 * @module
 */
import { glob, readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { type Source, uncheckedLocks } from './locking.ts';

const workflowId = 'a workflow run names its own row; no caller does';
const networkRow =
  'the card network names an authorization; the row is found by it, and other ids are read from the row';
const ownStatement = 'the locking statement names the owner, and refuses what is not the owner’s';
const readByEdge = 'the handler passes the record that the edge has read, and ids of that record';
const lockedRow = 'the ids are read from a row that this transaction has locked before';

/** Those that pass an id without taking a checked one, with the reason. A command of a caller takes a checked id. */
const origins: Readonly<Record<string, string>> = {
  'src/domains/cards/card-requests/card-request.routes.ts cardRequestHandlers':
    'the agent is the token’s own, or one that the edge has checked; the statement names its owner',
  'src/domains/delivery/push-subscriptions/push-subscription.routes.ts pushHandlers': readByEdge,
  'src/domains/delivery/webhook-pages/webhook-page.routes.ts webhookPageHandlers':
    'the token of a link, which is read without a lock first and names one subscription',
  'src/domains/identity/keys/key.routes.ts keyHandlers': 'all keys of the owner are locked, by no other id',
  'src/domains/identity/passkey-invitations/invitation.routes.ts invitationHandlers':
    'the invitation is read by id and owner, under the lock of the passkeys',
  'src/domains/identity/passkeys/passkey.routes.ts passkeyHandlers': ownStatement,
  'src/domains/spending/evidence/evidence.routes.ts evidenceHandlers': readByEdge,
  'src/usecases/cards/card-request-approval.ts cardRequestApproval':
    'the link names the request, and who has the link may decide it',
  'src/usecases/cards/card-was-used.ts cardWasUsed': lockedRow,
  'src/usecases/cards/decide-card-request.ts decideCardRequest': workflowId,
  'src/usecases/cards/rotate-card.ts reassignPayments': lockedRow,
  'src/usecases/delivery/give-up-endpoint.ts giveUpEndpoint': 'the id is of the workflow run’s own subscription',
  'src/usecases/delivery/read-endpoint.ts readEndpoint': 'the id is of the workflow run’s own subscription',
  'src/usecases/delivery/subscribe-invited-device.ts invitedDevices':
    'the link names the invitation, and its passkey has to assert',
  'src/usecases/identity/attest-subject.ts attestSubject': ownStatement,
  'src/usecases/parties/create-agent.ts createAgent': 'the customer is locked by its owner, and the other rows are new',
  'src/usecases/payments/authorize-card.ts authorizeCard': networkRow,
  'src/usecases/payments/authorize-card.ts authorizeUnderLock': networkRow,
  'src/usecases/payments/book-advice.ts bookAdvice': networkRow,
  'src/usecases/payments/book-early-messages.ts bookEarlyMessages': networkRow,
  'src/usecases/payments/book-orphan-refunds.ts bookOrphanRefunds': networkRow,
  'src/usecases/payments/clear-authorization.ts clearAuthorization': networkRow,
  'src/usecases/payments/increment-authorization.ts incrementAuthorization': networkRow,
  'src/usecases/payments/complete-paid-intent.ts completePaidIntent': lockedRow,
  'src/usecases/payments/conclude-presentation.ts endPresentation': workflowId,
  'src/usecases/payments/conclude-presentation.ts recordAnswer': workflowId,
  'src/usecases/payments/consume-credential.ts consumeCredential':
    'the credential is read by its merchant before anything is locked, and the other ids are from its row',
  'src/usecases/payments/expire-holds.ts expireHolds': 'a loop reads the ids of the rows that are due',
  'src/usecases/payments/hand-over-checkout.ts handOverCheckout':
    'a workflow run hands its own row over, and the other ids are from the row',
  'src/usecases/payments/mint-credential.ts mintCredential': 'a workflow run mints for its own row and the ids in it',
  'src/usecases/payments/mint-credential.ts mintReserved': 'a workflow run mints for its own row and the ids in it',
  'src/usecases/payments/obtain-credential.ts obtainCredential': workflowId,
  'src/usecases/payments/open-force-post.ts openForcePost': 'the payment is new',
  'src/usecases/payments/payment-of-unbooked.ts paymentOfUnbooked':
    'an operator names a message of the network, and its card where nobody is known for it',
  'src/usecases/payments/present-credential.ts markPresentation': workflowId,
  'src/usecases/payments/present-credential.ts presentCredential': workflowId,
  'src/usecases/payments/refund-card-payment.ts refundCardPayment': networkRow,
  'src/usecases/payments/reserve-credential.ts reserveCredential':
    'the edge has checked intent and card, or a workflow run names those of its row',
  'src/usecases/payments/resolve-mpp-payment.ts resolveMppPayment':
    'of a caller, the owner is compared before anything is locked; a workflow run names its own row',
  'src/usecases/payments/reverse-authorization.ts reverseAuthorization': networkRow,
  'src/usecases/payments/settle-mpp-payment.ts endSilence': workflowId,
  'src/usecases/payments/settle-mpp-payment.ts recordCharge': workflowId,
  'src/usecases/payments/settle-unbooked-message.ts assignMessage':
    'an operator names a message of the network on the machine of the installation; the rows are found by it',
  'src/usecases/spending/attest-intent.ts attestIntent': readByEdge,
  'src/usecases/spending/decide-intent.ts decideIntent': workflowId,
  'src/usecases/spending/declare-intent.ts declareIntent':
    'the agent is compared with the caller before it is locked; the card is found among the cards of the agent',
  'src/usecases/spending/expire-policy.ts expirePolicy': workflowId,
  'src/usecases/spending/intent-approval.ts intentApproval':
    'the link names the intent, and who has the link may decide it',
  'src/usecases/spending/request-approval.ts requestApproval': networkRow,
  'src/domains/treasury/bank-files/bank-file.routes.ts bankFileHandlers':
    'a line in suspense belongs to no owner; the wallet is checked by the edge',
  'src/usecases/treasury/receive-bank-file.ts answerBankFile':
    'the lines are known by the references of the bank, which signed the file',
  'src/usecases/treasury/receive-bank-file.ts receiveBankFile':
    'the lines are known by the references of the bank, which signed the file',
  'src/usecases/treasury/decide-bank-transfer.ts payeeForShare': lockedRow,
  'src/usecases/treasury/divide-amount.ts divideAmount':
    'the edge has checked the beneficiaries, whose rows are locked with their owner, and the wallets with their owner',
  'src/usecases/treasury/open-wallet.ts openWallet': ownStatement,
  'src/usecases/treasury/pay-bank-account.ts payBankAccount':
    'the edge has checked the beneficiary, whose row is locked with its owner, and the wallet with its owner',
  'src/usecases/treasury/screen-beneficiary.ts screenBeneficiary': workflowId,
  'src/usecases/treasury/transfer-intents.ts intentToPayFor': 'the edge has checked the intent, with its agent',
  'src/usecases/treasury/transfer-intents.ts matchIntent': 'the edge has checked the intent, with its agent',
  'src/usecases/treasury/transfer-intents.ts moveTransfers': lockedRow,
  'src/usecases/treasury/transfer-intents.ts tellIntents': lockedRow,
  'src/usecases/treasury/transfer-money.ts evaluatedSource': 'the agent is the token’s own',
  'src/usecases/treasury/transfer-money.ts transferMoney':
    'the agent is the token’s own, and the statement that locks the wallets names the owner',
};

async function sources(): Promise<Source[]> {
  const found: Source[] = [];
  for await (const path of glob('src/{domains,usecases}/**/*.ts')) {
    found.push({ path, text: await readFile(path, 'utf8') });
  }
  return found;
}

test('what passes an id to a read that locks takes a checked id, or has a reason', async () => {
  expect(uncheckedLocks(await sources())).toEqual(Object.keys(origins).toSorted());
});

const planted = (id: string): Source[] => [
  {
    path: 'src/domains/planted/gift.service.ts',
    text: `
import { LockMode } from '@mikro-orm/core';

type Named = { readonly id: ${id}; readonly ownerId: string };

const lockGift = (tx: Tx, id: string): Promise<Gift> =>
  tx.findOneOrFail(Gift, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });

export async function spendGift(tx: Tx, { id }: Named): Promise<void> {
  const row = await lockGift(tx, id);
}
`,
  },
  {
    path: 'src/domains/planted/gift.routes.ts',
    text: `
import { spendGift } from './gift.service.ts';

export const giftHandlers = (deps: GiftDeps): Handlers<typeof giftsArea> => ({
  spendGift: ({ body, own }, call) =>
    inTransaction(deps, call, (tx) => spendGift(tx, { id: body.giftId, ownerId: own.ownerId })),
});
`,
  },
];

test('a handler whose service locks by a plain id is found, at any depth of the service', () => {
  expect(uncheckedLocks(planted('string'))).toEqual(['src/domains/planted/gift.routes.ts giftHandlers']);
  expect(uncheckedLocks(planted("ReachedId<'gift'>"))).toEqual([]);
});

test.each([
  'select 1 from gifts where id = $1 for update',
  'select 1 from gifts where id = $1 for no key update',
  'select 1 from gifts where id = $1 for share',
])('a use case that runs “%s” is found', (statement) => {
  const path = 'src/usecases/planted/spend-gift.ts';
  const text = `export const spendGift =
  ({ database }: Deps) =>
  (giftId: string): Promise<void> =>
    database.write((tx) => runSql(tx, '${statement}', [giftId]));
`;
  expect(uncheckedLocks([{ path, text }])).toEqual([`${path} spendGift`]);
  expect(uncheckedLocks([{ path, text: text.replace('giftId: string', "giftId: ReachedId<'gift'>") }])).toEqual([]);
});
