/** The ledger operations as published: reading and checking. Wire shapes only; nothing here writes. @module */
import * as z from 'zod';
import { defineArea } from '../../../http/route.ts';
import { eurosOut, id, idOut, instant, instantOut, pageOut, pageQuery, period, text } from '../../../http/schemas.ts';
import { exampleId } from '../../../kernel/ids.ts';
import { checkpointCursor } from './checkpoint.rules.ts';
import { entryIdForm } from './entry.rules.ts';

const referenceTypes = ['transaction', 'transfer', 'refund', 'fund', 'payment_request', 'fee', 'adjustment'] as const;

const entryFields = {
  id: idOut('entry'),
  journalId: idOut('journal'),
  ownerId: idOut('owner'),
  agentId: idOut('agent').nullable(),
  kind: z.string().meta({ description: 'what kind of movement the journal is: authorization, clearing, fund …' }),
  account: z.string(),
  walletId: idOut('wallet').nullable(),
  direction: z.enum(['debit', 'credit']),
  amountEuros: eurosOut,
  balanceBeforeEuros: eurosOut.nullable(),
  balanceAfterEuros: eurosOut
    .nullable()
    .meta({ description: 'null on contra accounts, which have no running balance' }),
  referenceType: z.enum(referenceTypes),
  referenceId: z.string(),
  memo: z.string().nullable(),
  requestId: z.string(),
  runId: z.string().nullable(),
  createdAt: instantOut,
};

export const LedgerEntry = z.object(entryFields).meta({ id: 'LedgerEntry', description: 'One line of a journal.' });

const LedgerEntryWithLines = z
  .object({ ...entryFields, lines: z.array(LedgerEntry).meta({ description: 'the other lines of its journal' }) })
  .meta({ id: 'LedgerEntryWithLines', description: 'One line of a journal, with the other lines.' });

const LedgerVerification = z
  .object({
    balanced: z.boolean(),
    journals: z.number().int(),
    sealedThrough: z.number().int().meta({ description: 'number of the last journal in the sealed chain' }),
    unsealed: z.number().int().meta({ description: 'journals younger than about a second, not sealed yet' }),
    checkedFrom: z.number().int().meta({ description: 'number of the checkpoint it began at; 0 = from the start' }),
    records: z
      .array(
        z.object({
          chain: z.string().meta({ description: 'The chain: `audit` or `decisions`.', examples: ['audit'] }),
          sealedThrough: z.number().int(),
          unsealed: z.number().int(),
        }),
      )
      .meta({ description: 'the sealed chains of the owner’s audit rows (`audit`) and card decisions (`decisions`)' }),
    differences: z.array(z.object({ check: z.string(), subject: z.string(), message: z.string() })),
  })
  .meta({ id: 'LedgerVerification', description: 'The outcome of a check of the ledger.' });

const LedgerCheckpoint = z
  .object({
    sequence: z.number().int(),
    hash: z.string(),
    signature: z.string().meta({ description: 'Ed25519, base64url; docs/ledger.md says over what' }),
    root: z.string(),
    rootSignature: z.string(),
    keyId: z.string(),
    createdAt: instantOut,
  })
  .meta({ id: 'LedgerCheckpoint', description: 'A signed checkpoint of the sealed chain.' });

export const ledgerArea = defineArea({
  tag: 'Ledger',
  base: '/ledger',
  aliases: [],
  description: 'The double-entry book behind every movement of money: append-only, sealed, and open to be checked.',
  operations: {
    listLedgerEntries: {
      method: 'get',
      path: '',
      reaches: { 'query.walletId': 'filter' },
      summary: 'List entries',
      description: 'Newest first. An agent token gets only the entries of the agent that it belongs to.',
      auth: ['key', 'agent'],
      scope: 'ledger.read',
      query: z.strictObject({
        walletId: id('wallet').optional(),
        account: text(120).optional().describe('only lines on this account'),
        referenceType: z.enum(referenceTypes).optional().describe('only lines caused by a record of this kind'),
        referenceId: text(120).optional().describe('only lines caused by this record'),
        direction: z.enum(['debit', 'credit']).optional().describe('only debits, or only credits'),
        ...period,
        ...pageQuery(entryIdForm, `${exampleId('entry')}01`),
      }),
      success: { status: 200, body: pageOut(LedgerEntry) },
      refusals: [],
    },
    getLedgerEntry: {
      method: 'get',
      path: '/{id}',
      summary: 'Get an entry with the other lines of its journal',
      auth: ['key', 'agent'],
      scope: 'ledger.read',
      params: z.strictObject({ id: id('entry') }),
      success: { status: 200, body: LedgerEntryWithLines },
      refusals: ['agent_isolation', 'not_found'],
    },
    listLedgerAccounts: {
      method: 'get',
      path: '/accounts',
      summary: 'Trial balance',
      description: 'Debits and credits of every account, now or as of a moment; over all accounts they are equal.',
      auth: ['key'],
      query: z.strictObject({ asOf: instant.optional().describe('balances as they were then; absent: now') }),
      success: {
        status: 200,
        body: z
          .object({
            data: z.array(
              z
                .object({ account: z.string(), debitEuros: eurosOut, creditEuros: eurosOut, balanceEuros: eurosOut })
                .meta({ id: 'LedgerAccount', description: 'Debits, credits and balance of one account.' }),
            ),
          })
          .meta({ id: 'LedgerAccounts', description: 'The trial balance.' }),
      },
      refusals: [],
    },
    verifyLedger: {
      method: 'get',
      path: '/verify',
      summary: 'Check the book',
      description:
        'Recomputes seals, balances and invariants from the last checkpoint that was found whole, or all of it with ' +
        '`full=true`, of which one runs at a time (429).',
      auth: ['key'],
      query: z.strictObject({
        full: z
          .enum(['true', 'false'])
          .default('false')
          .describe('the whole book, and not only since the last checkpoint that was found whole')
          .transform((text) => text === 'true'),
      }),
      success: { status: 200, body: LedgerVerification },
      refusals: [],
    },
    listLedgerCheckpoints: {
      method: 'get',
      path: '/checkpoints',
      summary: 'List the signed checkpoints of the own chain',
      auth: ['key'],
      query: z.strictObject(pageQuery(checkpointCursor.form, checkpointCursor.idOf(1))),
      success: { status: 200, body: pageOut(LedgerCheckpoint) },
      refusals: [],
    },
  },
});

export type LedgerEntryRecord = z.infer<typeof LedgerEntry>;
