/** The transfer operations as published. Wire shapes only; the rules live in transfer.rules.ts. @module */
import * as z from 'zod';
import type { Received } from '../../../http/cents-names.ts';
import { defineArea } from '../../../http/route.ts';
import {
  euros,
  eurosOut,
  id,
  idOut,
  instantOut,
  pageOut,
  pageQuery,
  period,
  prose,
  text,
} from '../../../http/schemas.ts';
import { exampleId } from '../../../kernel/ids.ts';
import { isSepaText, longestRemittance, sepaTextOf } from '../../../kernel/sepa-text.ts';
import { bicIn, ibanIn, nameIn } from '../beneficiaries/beneficiary.contract.ts';
import { payeeCheckResults, recallOutcomes } from '../sepa/bank-transfer.rules.ts';
import { schemes } from '../sepa/scheme.rules.ts';
import { metadata } from '../wallets/wallet.contract.ts';
import { fewestLines, largestTransferCents, mostLines, transferStatuses, transferTypes } from './transfer.rules.ts';
import { splitDecisions, splitStatuses } from './transfer-split.rules.ts';

const fromWalletOut = idOut('wallet')
  .nullable()
  .meta({ description: 'Id of a wallet; null when the money came from the budget of the agent.' });

const Transfer = z
  .strictObject({
    id: idOut('transfer'),
    ownerId: idOut('owner'),
    agentId: idOut('agent').nullable().meta({ description: 'the agent that made it; null: the owner did' }),
    type: z.enum(transferTypes),
    fromWalletId: fromWalletOut,
    toWalletId: idOut('wallet').nullable().meta({ description: 'null when the money goes to a bank account' }),
    beneficiaryId: idOut('beneficiary').nullable().meta({ description: 'whose bank account the money goes to' }),
    toIbanMasked: z
      .string()
      .nullable()
      .meta({ description: 'Country and last four characters of the payee’s account.', examples: ['DE•• •••• 3000'] }),
    payeeName: z
      .string()
      .nullable()
      .meta({ description: 'The name that the bank gets, in the characters of SEPA.', examples: ['Erika Muster'] }),
    scheme: z.enum(schemes).nullable().meta({ description: 'How the bank sends it; null between wallets.' }),
    amountEuros: eurosOut,
    currency: z.literal('EUR'),
    reference: z.string().nullable(),
    sepaReference: z
      .string()
      .nullable()
      .meta({
        description: 'The reference that the payee’s statement shows, in the characters of SEPA.',
        examples: ['Invoice 2026-117'],
      }),
    memo: z.string().nullable(),
    status: z.enum(transferStatuses),
    failureReason: z
      .string()
      .nullable()
      .meta({ description: 'Why no money arrived, or why it came back.', examples: ['returned:MD07'] }),
    failureText: z
      .string()
      .nullable()
      .meta({ description: 'The same in words.', examples: ['MD07: the payee has died'] }),
    payeeCheck: z
      .enum(payeeCheckResults)
      .nullable()
      .meta({ description: 'What the payee’s bank said of name and IBAN; null before the check.' }),
    approvalRule: z
      .string()
      .nullable()
      .meta({ description: 'The rule of the policy that asks for a person.', examples: ['auto_approve_limit'] }),
    approvalUrl: z
      .string()
      .nullable()
      .meta({
        description: 'The approver’s page, while a person is waited for. To an API key only.',
        examples: ['https://bursar.example/approve/6f1d2c3b4a5968778695a4b3c2d1e0f9'],
      }),
    expiresAt: instantOut.nullable().meta({ description: 'Until when a person can approve it.' }),
    decidedBy: z
      .string()
      .nullable()
      .meta({ description: 'Who approved, denied or cancelled it.', examples: ['key:key_01kc1v9m3se7ttw5v1x0h2q8ab'] }),
    decidedAt: instantOut.nullable().meta({ description: 'When it was decided, in business time.' }),
    decisionReason: z
      .string()
      .nullable()
      .meta({ description: 'Given with a denial.', examples: ['We do not know this payee.'] }),
    executionDate: z
      .string()
      .nullable()
      .meta({ description: 'The day on which the bank executes it.', examples: ['2026-11-23'] }),
    settlementDate: z
      .string()
      .nullable()
      .meta({ description: 'The day on which the payee’s bank has the money.', examples: ['2026-11-24'] }),
    recall: z.enum(recallOutcomes).nullable().meta({
      description:
        'What became of the request to get the money back; null without one. `ended`: the transfer ended before the bank answered.',
    }),
    splitId: idOut('transferSplit').nullable().meta({ description: 'the split that it is a line of' }),
    intentId: idOut('intent').nullable().meta({ description: 'what the agent declared, and the transfer pays for' }),
    requestId: z.string(),
    runId: z.string().nullable(),
    metadata: z.record(z.string(), z.unknown()),
    createdAt: instantOut,
    completedAt: instantOut.nullable(),
  })
  .meta({ id: 'Transfer', description: 'Money that moves to a wallet of the owner, or to a bank account.' });
export type TransferRecord = z.infer<typeof Transfer>;

const TransferSplit = z
  .strictObject({
    id: idOut('transferSplit'),
    ownerId: idOut('owner'),
    agentId: idOut('agent').nullable().meta({ description: 'the agent that made it; null: the owner did' }),
    fromWalletId: fromWalletOut,
    totalAmountEuros: eurosOut,
    completedAmountEuros: eurosOut.meta({ description: 'What has arrived and has not come back.', examples: [7.5] }),
    currency: z.literal('EUR'),
    status: z.enum(splitStatuses).meta({
      description:
        '`pending_approval`: all payees are checked, and some lines wait for a person. `partially_completed`: every line ' +
        'has ended, and the money of some did not arrive or came back.',
    }),
    approvalRule: z
      .string()
      .nullable()
      .meta({ description: 'The rule of the policy that asks for a person.', examples: ['auto_approve_limit'] }),
    approvalUrl: z
      .string()
      .nullable()
      .meta({
        description: 'The approver’s page for all lines that wait, while a person is waited for. To an API key only.',
        examples: ['https://bursar.example/approve/6f1d2c3b4a5968778695a4b3c2d1e0f9'],
      }),
    expiresAt: instantOut.nullable().meta({ description: 'Until when a person can approve all lines that wait.' }),
    decision: z
      .enum(splitDecisions)
      .nullable()
      .meta({ description: 'What a person decided of all lines that waited; null where no one did.' }),
    decidedBy: z
      .string()
      .nullable()
      .meta({ description: 'Who decided it.', examples: ['key:key_01kc1v9m3se7ttw5v1x0h2q8ab'] }),
    decidedAt: instantOut.nullable().meta({ description: 'When it was decided, in business time.' }),
    decisionReason: z
      .string()
      .nullable()
      .meta({ description: 'Given with a denial.', examples: ['We do not know this payee.'] }),
    intentId: idOut('intent').nullable().meta({ description: 'what the agent declared, and the split pays for' }),
    requestId: z.string(),
    runId: z.string().nullable(),
    createdAt: instantOut,
    completedAt: instantOut.nullable().meta({ description: 'When the last line had ended; null before.' }),
    transfers: z.array(Transfer).meta({ description: 'one for each line, in the order of the lines' }),
  })
  .meta({ id: 'TransferSplit', description: 'An amount that one call divided among wallets and bank accounts.' });
export type TransferSplitRecord = z.infer<typeof TransferSplit>;

const amount = euros({ minCents: 1, maxCents: largestTransferCents });
const fromWalletId = id('wallet').optional().meta({
  description: 'Absent: the default wallet; for an agent, what its cards draw on. An agent can name no other wallet.',
});
const sepaCharacters = "must be of letters, digits, spaces and / - ? : ( ) . , ' +";
const percent = z
  .number()
  .refine((value) => /^\d{1,3}(\.\d{1,2})?$/.test(String(value)), 'must be a percentage with at most two decimals')
  .refine((value) => value >= 0.01 && value <= 100, 'must be from 0.01 to 100')
  .meta({ minimum: 0.01, maximum: 100, multipleOf: 0.01, description: 'Percent of the total.', examples: [25] });

const remittance = text(longestRemittance)
  .refine(
    (given) => sepaTextOf(given).length <= longestRemittance,
    `must have at most ${longestRemittance} characters once it is written in the SEPA character set`,
  )
  .optional()
  .meta({
    description:
      'What a statement shows. To a bank account, letters outside the SEPA character set are written in it: see ' +
      '`sepaReference`. To a wallet, only characters of that set.',
    examples: ['Invoice 2026-117'],
  });

/** Where the money of a transfer, or of a line, goes. */
const target = {
  toWalletId: id('wallet').optional().meta({ description: 'A wallet of the same owner.' }),
  beneficiaryId: id('beneficiary').optional().meta({ description: 'A saved payee.' }),
  to: z
    .strictObject({ name: nameIn, iban: ibanIn, bic: bicIn.optional() })
    .optional()
    .meta({ description: 'A payee that is not saved. Not for agents.' }),
  scheme: z
    .enum(schemes)
    .optional()
    .meta({ description: 'To a bank account. Absent: `instant` where the bank offers it for the amount.' }),
};
type Target = { readonly toWalletId?: unknown; readonly beneficiaryId?: unknown; readonly to?: unknown };
const hasOneTarget = ({ toWalletId, beneficiaryId, to }: Target): boolean =>
  [toWalletId, beneficiaryId, to].filter((one) => one !== undefined).length === 1;
const oneTarget = 'give exactly one of toWalletId, beneficiaryId and to';
/** A wallet's statement shows the reference as it is. */
const isReferenceForTarget = ({ toWalletId, reference }: { toWalletId?: unknown; reference?: string | undefined }) =>
  toWalletId === undefined || isSepaText(reference ?? '');

const intentId = id('intent')
  .optional()
  .meta({
    description:
      'The approved intent of the agent that this pays for; a policy may require one. Its amount has to cover this one, and ' +
      'each payee has to be its `expectedMerchant`. It is completed once the money has left, and open again where none leaves.',
  });

const creation = z
  .strictObject({
    fromWalletId,
    ...target,
    amountEuros: amount,
    intentId,
    reference: remittance,
    memo: prose(1000).optional(),
    metadata: metadata.optional(),
  })
  .refine(hasOneTarget, oneTarget)
  .refine(isReferenceForTarget, { message: sepaCharacters, path: ['reference'] })
  .meta({
    examples: [{ toWalletId: exampleId('wallet'), amountEuros: 12.5, reference: 'Invoice 2026-117' }],
    minProperties: 2,
  });
export type TransferBody = Received<typeof creation>;

const line = z
  .strictObject({
    ...target,
    amountEuros: amount.optional(),
    percent: percent.optional(),
    reference: remittance,
  })
  .refine(hasOneTarget, oneTarget)
  .refine(isReferenceForTarget, { message: sepaCharacters, path: ['reference'] })
  .meta({ id: 'TransferSplitLine', description: 'One line of a split: an amount, or a percentage of the total.' });

const division = z
  .strictObject({
    fromWalletId,
    intentId,
    totalAmountEuros: amount
      .optional()
      .meta({ description: 'Required with percentages. With amounts it must be their sum.' }),
    splits: z.array(line).min(fewestLines).max(mostLines).meta({ description: 'Each becomes a transfer.' }),
  })
  .meta({
    examples: [
      {
        fromWalletId: exampleId('wallet'),
        totalAmountEuros: 10,
        splits: [
          { toWalletId: exampleId('wallet'), percent: 25 },
          {
            to: { name: 'Erika Muster', iban: 'DE89370400440532013000' },
            percent: 75,
            reference: 'Invoice 2026-117',
          },
        ],
      },
    ],
  });
export type TransferSplitBody = Received<typeof division>;

const lockedByService = { elsewhere: 'the service locks the wallets by id and owner' } as const;

const denial = z.strictObject({
  reason: prose(500)
    .optional()
    .meta({ description: 'Why; the agent can read it.', examples: ['We do not know this payee.'] }),
});

/** Of transfers that end before the bank has them, with what follows for their split and their intent. */
const firesUnsent = [
  ...(['transfer.failed', 'transfer.split.updated', 'transfer.split.completed'] as const),
  ...(['intent.completed', 'intent.cancelled'] as const),
] as const;

export const transfersArea = defineArea({
  tag: 'Transfers',
  base: '/transfers',
  aliases: ['/payments'],
  description:
    'Moves euros between wallets of one owner, at once, and to bank accounts by SEPA. A transfer of an agent is ' +
    'evaluated by its policy and counts against the sums of the policy.',
  operations: {
    createTransfer: {
      method: 'post',
      path: '',
      reaches: { 'body.fromWalletId': lockedByService, 'body.toWalletId': lockedByService },
      summary: 'Move money to another wallet or to a bank account',
      description:
        'To a wallet: completed in the answer. To a bank account: the money is held, the payee is screened and its bank ' +
        'asked whether name and account match; with any other answer than a match, or where the policy of an agent says ' +
        'so, a person decides within 72 hours. Then the bank gets the payment, once. An agent moves only the money that ' +
        'its cards draw on, to wallets and to beneficiaries with `agentsMayPay`; what its policy denies is refused with ' +
        'the rule and its figures, and so is a transfer to a wallet that a person would have to approve.',
      auth: ['key', 'agent'],
      scope: 'transfers.write',
      body: creation,
      success: { status: 201, body: Transfer },
      refusals: ['invalid_state', 'insufficient_funds', 'agent_isolation', 'policy_denied', 'not_found'],
      fires: [
        'transfer.completed',
        'wallet.credited',
        'transfer.created',
        'beneficiary.created',
        'intent.matched',
        'intent.completed',
      ],
    },
    createTransferSplit: {
      method: 'post',
      path: '/split',
      reaches: { 'body.fromWalletId': lockedByService, 'body.splits.toWalletId': lockedByService },
      summary: 'Divide an amount among wallets and bank accounts',
      description:
        'By amounts or by percentages. Each percentage is rounded down to the cent, and the last line takes the rest. The ' +
        'money of all lines is moved or held at once, or none of it. Lines to wallets are completed in the answer; each ' +
        'line to a bank account is a transfer of its own, which can fail while others arrive: see `status`. Lines that ' +
        'need a person are decided together, or one by one. For an agent’s policy the whole split is one payment; what ' +
        'a person would have to approve is refused where a line goes to a wallet.',
      auth: ['key', 'agent'],
      scope: 'transfers.write',
      body: division,
      success: { status: 201, body: TransferSplit },
      refusals: ['invalid_state', 'insufficient_funds', 'agent_isolation', 'policy_denied', 'not_found'],
      fires: [
        'transfer.completed',
        'wallet.credited',
        'transfer.split.completed',
        'transfer.created',
        'transfer.split.created',
        'beneficiary.created',
        'intent.matched',
        'intent.completed',
      ],
    },
    listTransfers: {
      method: 'get',
      path: '',
      reaches: {
        'query.walletId': 'filter',
        'query.beneficiaryId': 'filter',
        'query.agentId': 'filter',
        'query.splitId': 'filter',
      },
      summary: 'List transfers',
      description: 'Newest first. An agent token sees the transfers of its agent.',
      auth: ['key', 'agent'],
      scope: 'transfers.read',
      query: z.strictObject({
        status: z.enum(transferStatuses).optional().describe('only transfers in this state'),
        type: z.enum(transferTypes).optional().describe('only transfers of this type'),
        walletId: id('wallet').optional().meta({ description: 'only transfers from or to this wallet' }),
        beneficiaryId: id('beneficiary').optional().meta({ description: 'only transfers to this payee' }),
        agentId: id('agent').optional(),
        splitId: id('transferSplit').optional(),
        ...period,
        ...pageQuery('transfer'),
      }),
      success: { status: 200, body: pageOut(Transfer) },
      refusals: ['agent_isolation'],
    },
    getTransfer: {
      method: 'get',
      path: '/{id}',
      summary: 'Get a transfer',
      auth: ['key', 'agent'],
      scope: 'transfers.read',
      params: z.strictObject({ id: id('transfer') }),
      success: { status: 200, body: Transfer },
      refusals: ['agent_isolation', 'not_found'],
    },
    approveTransfer: {
      method: 'post',
      path: '/{id}/approve',
      summary: 'Approve a transfer to a bank account',
      description:
        'The bank gets it then. A 503 may still take effect: repeat with the same Idempotency-Key. Approving what is ' +
        'approved already answers 200 again and changes nothing.',
      auth: ['key'],
      params: z.strictObject({ id: id('transfer') }),
      body: z.strictObject({}),
      success: { status: 200, body: Transfer },
      refusals: ['invalid_state', 'not_found'],
      fires: ['transfer.updated', 'transfer.split.updated'],
    },
    denyTransfer: {
      method: 'post',
      path: '/{id}/deny',
      summary: 'Deny a transfer to a bank account',
      description: 'Works while Temporal is unavailable. Denying what is denied already answers 200 without an event.',
      auth: ['key'],
      params: z.strictObject({ id: id('transfer') }),
      body: denial,
      success: { status: 200, body: Transfer },
      refusals: ['invalid_state', 'not_found'],
      fires: [...firesUnsent],
    },
    cancelTransfer: {
      method: 'post',
      path: '/{id}/cancel',
      summary: 'Cancel a transfer to a bank account, or recall it',
      description:
        'Before the bank has it, the money is released. Afterwards the bank is asked to get the money back (`recall`); ' +
        'what it gives back arrives later, or does not. Works while Temporal is unavailable.',
      auth: ['key'],
      params: z.strictObject({ id: id('transfer') }),
      body: z.strictObject({}),
      success: { status: 200, body: Transfer },
      refusals: ['invalid_state', 'not_found'],
      fires: [...firesUnsent, 'transfer.updated'],
    },
    getTransferSplit: {
      method: 'get',
      path: '/splits/{splitId}',
      summary: 'Get a split with its transfers',
      auth: ['key', 'agent'],
      scope: 'transfers.read',
      params: z.strictObject({ splitId: id('transferSplit') }),
      success: { status: 200, body: TransferSplit },
      refusals: ['agent_isolation', 'not_found'],
    },
    approveTransferSplit: {
      method: 'post',
      path: '/splits/{splitId}/approve',
      summary: 'Approve the lines of a split that wait for a person',
      description:
        'All of them, or none: 400 while payees are still being checked, and where the payee of one may not be paid any ' +
        'more (deny or cancel that transfer first). A 503 may still take effect: repeat with the same Idempotency-Key. ' +
        'Approving what is approved already answers 200 again and changes nothing.',
      auth: ['key'],
      params: z.strictObject({ splitId: id('transferSplit') }),
      body: z.strictObject({}),
      success: { status: 200, body: TransferSplit },
      refusals: ['invalid_state', 'not_found'],
      fires: ['transfer.updated', 'transfer.split.updated'],
    },
    denyTransferSplit: {
      method: 'post',
      path: '/splits/{splitId}/deny',
      summary: 'Deny the lines of a split that wait for a person',
      description:
        'The other lines go on. Works while Temporal is unavailable. Denying what is denied already answers 200 without ' +
        'an event.',
      auth: ['key'],
      params: z.strictObject({ splitId: id('transferSplit') }),
      body: denial,
      success: { status: 200, body: TransferSplit },
      refusals: ['invalid_state', 'not_found'],
      fires: [...firesUnsent],
    },
    cancelTransferSplit: {
      method: 'post',
      path: '/splits/{splitId}/cancel',
      summary: 'Cancel the lines of a split that the bank does not have',
      description:
        'Their money is released. Lines that the bank may have, and lines that have ended, stay as they are; ' +
        '`POST /transfers/{id}/cancel` recalls one. Works while Temporal is unavailable.',
      auth: ['key'],
      params: z.strictObject({ splitId: id('transferSplit') }),
      body: z.strictObject({}),
      success: { status: 200, body: TransferSplit },
      refusals: ['invalid_state', 'not_found'],
      fires: [...firesUnsent],
    },
  },
});
