/** The ledger operations as published: reading and checking. Wire shapes only; nothing here writes. @module */
import * as z from 'zod';
import { defineArea } from '../../../http/route.ts';
import {
  eurosOut,
  id,
  idOut,
  instant,
  instantOrDate,
  instantOut,
  pageOut,
  pageQuery,
  period,
  text,
} from '../../../http/schemas.ts';
import { exampleId } from '../../../kernel/ids.ts';
import { day } from '../../../kernel/instant.ts';
import { checkpointCursor } from './checkpoint.rules.ts';
import { entryIdForm, statementCursor } from './entry.rules.ts';
import { exportFormats } from './export.rules.ts';

const referenceTypes = [
  'transaction',
  'transfer',
  'refund',
  'fund',
  'payment_request',
  'fee',
  'adjustment',
  'bank_entry',
] as const;

/** `from` and `to` as instants of sealing. The examples are in the past of any installation. */
const sealedPeriod = {
  from: instantOrDate(0)
    .meta({
      description: 'only what was sealed at this instant or later; absent: from the first',
      examples: ['2026-09-01'],
    })
    .optional(),
  to: instantOrDate(day)
    .meta({
      description: 'only what was sealed before this instant; absent: all that is sealed',
      examples: ['2026-09-30'],
    })
    .optional(),
};

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

export const LedgerEntry = z
  .strictObject(entryFields)
  .meta({ id: 'LedgerEntry', description: 'One line of a journal.' });

const ExportedEntry = z
  .strictObject({
    sequence: z.number().int().meta({ description: 'number of its journal in the sealed chain' }),
    sealedAt: instantOut.nullable().meta({ description: 'when its journal was sealed; null in format 1' }),
    ...entryFields,
  })
  .meta({ id: 'ExportedLedgerEntry', description: 'One line of an export: an entry and the seal of its journal.' });

const LedgerEntryWithLines = z
  .strictObject({ ...entryFields, lines: z.array(LedgerEntry).meta({ description: 'the other lines of its journal' }) })
  .meta({ id: 'LedgerEntryWithLines', description: 'One line of a journal, with the other lines.' });

const LedgerVerification = z
  .strictObject({
    balanced: z.boolean(),
    journals: z.number().int(),
    sealedThrough: z.number().int().meta({ description: 'number of the last journal in the sealed chain' }),
    unsealed: z.number().int().meta({ description: 'journals younger than about a second, not sealed yet' }),
    checkedFrom: z.number().int().meta({ description: 'number of the checkpoint it began at; 0 = from the start' }),
    records: z
      .array(
        z.strictObject({
          chain: z.string().meta({ description: 'The chain: `audit` or `decisions`.', examples: ['audit'] }),
          sealedThrough: z.number().int(),
          unsealed: z.number().int(),
        }),
      )
      .meta({ description: 'the sealed chains of the owner’s audit rows (`audit`) and card decisions (`decisions`)' }),
    differences: z.array(z.strictObject({ check: z.string(), subject: z.string(), message: z.string() })),
  })
  .meta({ id: 'LedgerVerification', description: 'The outcome of a check of the ledger.' });

const LedgerStatement = pageOut(LedgerEntry)
  .extend({
    account: z.string(),
    from: instantOut.nullable().meta({ description: 'as asked; null: from the first line' }),
    to: instantOut.meta({ description: 'lines that were sealed before this instant; the next statement begins here' }),
    openingBalanceEuros: eurosOut.meta({ description: 'before the first line of the statement' }),
    closingBalanceEuros: eurosOut.meta({ description: 'after the last line of the statement' }),
  })
  .meta({ id: 'LedgerStatement', description: 'One page of the lines of an account, with its balances.' });

const LedgerCheckpoint = z
  .strictObject({
    sequence: z.number().int(),
    hash: z.string(),
    treeRoot: z
      .string()
      .nullable()
      .meta({
        description: 'root of the Merkle tree over the journals 1 to `sequence`; null in format 1',
        examples: ['b'.repeat(64)],
      }),
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
      description:
        'Debits and credits of every account, now or as of an instant; over all accounts they are equal. As of an ' +
        'instant it counts the journals that were sealed by then, so the result for that instant never changes. An ' +
        'instant after `sealedThrough` is refused (400).',
      auth: ['key'],
      query: z.strictObject({
        asOf: instant.optional().describe('what was sealed by then; absent: now, with what is not sealed yet'),
      }),
      unpaged: 'one row for each account; together they are balanced',
      success: {
        status: 200,
        body: z
          .strictObject({
            data: z.array(
              z
                .strictObject({
                  account: z.string(),
                  debitEuros: eurosOut,
                  creditEuros: eurosOut,
                  balanceEuros: eurosOut,
                })
                .meta({ id: 'LedgerAccount', description: 'Debits, credits and balance of one account.' }),
            ),
            asOf: instantOut.nullable().meta({ description: 'as asked; null: now' }),
            sealedThrough: instantOut.meta({ description: 'the latest instant that `asOf` may name' }),
          })
          .meta({ id: 'LedgerAccounts', description: 'The trial balance.' }),
      },
      refusals: [],
    },
    getLedgerStatement: {
      method: 'get',
      path: '/statement',
      summary: 'Get the statement of one account',
      description:
        'Opening balance, lines oldest first, closing balance. `from` and `to` are instants of sealing: the closing ' +
        'balance is the opening balance of the statement that begins at `to`, and a statement never changes. A `to` ' +
        'whose journals may not all be sealed is refused (400). Name the same `to` for all pages of one statement.',
      auth: ['key'],
      query: z.strictObject({
        account: text(120).meta({
          description: 'as `GET /ledger/accounts` names it; its lines have balances unless it is a contra account',
          examples: [`wallet:${exampleId('wallet')}:available`],
        }),
        ...sealedPeriod,
        ...pageQuery(statementCursor.form, statementCursor.idOf(40)),
      }),
      success: { status: 200, body: LedgerStatement },
      refusals: ['not_found'],
    },
    getLedgerExport: {
      method: 'get',
      path: '/export',
      summary: 'Get the sealed entries as a file',
      description:
        'One line for each entry, in the order of the seals, as NDJSON or CSV. The answer is sent as it is read, ' +
        'without a limit of its size. In CSV, a text that a spreadsheet would run as a formula begins with an ' +
        'apostrophe. An answer that ends without its last chunk was cut off: repeat it.',
      auth: ['key'],
      query: z.strictObject({
        format: z.enum(exportFormats).default('ndjson').describe('a JSON object on each line, or RFC 4180'),
        ...sealedPeriod,
      }),
      success: { status: 200, body: ExportedEntry },
      streams: ['application/x-ndjson', 'text/csv'],
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
