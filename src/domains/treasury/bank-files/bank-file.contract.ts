/** The files of banks and what waits of them for an operator, as published. Wire shapes only. @module */
import * as z from 'zod';
import { defineArea } from '../../../http/route.ts';
import { eurosOut, id, idOut, instantOut, pageOut, pageQuery, prose } from '../../../http/schemas.ts';
import { bankEntryStatuses } from './bank-entry.rules.ts';

/** A body over HTTP; a file in the folder may be larger. */
export const largestBodyBytes = 16 * 1024 * 1024;

const count = (description: string) => z.int().meta({ description, examples: [0] });

export const bankFileAnswer = z
  .strictObject({
    id: idOut('bankFile'),
    messageId: z.string().meta({ description: 'The bank’s id of the message.', examples: ['N-20261120-1'] }),
    kind: z
      .enum(['status_report', 'notification'])
      .meta({ description: 'pain.002 or camt.054.', examples: ['notification'] }),
    lines: count('Lines of the file.'),
    moved: count('Lines that moved a transfer.'),
    credited: count('Credits that went to a wallet.'),
    suspense: count('Credits without an owner, until an operator assigns them.'),
    unbooked: count('Lines that moved nothing and wait for an operator.'),
    already: count('Lines that were known.'),
    ignored: count('Lines about other accounts, and lines that say nothing final.'),
  })
  .meta({ id: 'BankFile', description: 'What became of the lines of a bank’s file.' });
export type BankFileAnswer = z.output<typeof bankFileAnswer>;

const details = z
  .strictObject({
    payerName: z
      .string()
      .nullable()
      .meta({ description: 'Who paid; null where unknown.', examples: ['Jane Doe'] }),
    payerIban: z
      .string()
      .nullable()
      .meta({
        description: 'The account that was paid from; null where unknown.',
        examples: ['DE89370400440532013000'],
      }),
    text: z
      .string()
      .nullable()
      .meta({ description: 'What the payer wrote; null for nothing.', examples: ['Invoice 1'] }),
    creditorReference: z
      .string()
      .nullable()
      .meta({ description: 'The structured reference; null without one.', examples: ['RF18539007547034'] }),
    endToEndId: z
      .string()
      .nullable()
      .meta({ description: 'The end-to-end id; null without one.', examples: ['NOTPROVIDED'] }),
  })
  .meta({ id: 'BankEntryDetails', description: 'What the bank said of a payment.' });
export type BankEntryDetails = z.output<typeof details>;

const entry = z
  .strictObject({
    id: idOut('bankEntry'),
    status: z.enum(bankEntryStatuses).meta({
      description:
        '`credited`: in a wallet; `suspense`: booked without an owner; `assigned`: moved from there to a wallet; `unbooked`: nothing was moved.',
      examples: ['suspense'],
    }),
    why: z
      .string()
      .nullable()
      .meta({
        description: 'Why it was not credited; null where it was.',
        examples: ['the wallet with this account is closed'],
      }),
    assignable: z.boolean().meta({
      description:
        'Whether an operator can give it to a wallet: what is in suspense, and an unbooked credit whose reference the bank had used for other money.',
      examples: [true],
    }),
    iban: z
      .string()
      .nullable()
      .meta({
        description: 'The account that it was booked on; null for a status report.',
        examples: ['DE89370400440532013000'],
      }),
    servicerReference: z
      .string()
      .meta({ description: 'The bank’s reference of the line.', examples: ['2026112000001'] }),
    direction: z
      .enum(['credit', 'debit'])
      .nullable()
      .meta({ description: 'Null for a status report.', examples: ['credit'] }),
    amountEuros: eurosOut.nullable().meta({ description: 'Null where a status report names none.', examples: [12.5] }),
    bookedOn: z
      .string()
      .nullable()
      .meta({ description: 'The bank’s day; null without one.', examples: ['2026-11-20'] }),
    walletId: idOut('wallet').nullable().meta({ description: 'The wallet that has the money; null before.' }),
    fundingId: idOut('funding').nullable().meta({ description: 'The top-up that it completed; null without one.' }),
    details: details.nullable().meta({ description: 'For what waits for an operator; null once it is in a wallet.' }),
    createdAt: instantOut.meta({ description: 'When the file was read, in business time.' }),
    updatedAt: instantOut.meta({ description: 'When it last changed, in business time.' }),
  })
  .meta({ id: 'BankEntry', description: 'A line of a bank’s file that is not about a transfer.' });
export type BankEntryWire = z.input<typeof entry>;

export const bankFilesArea = defineArea({
  tag: 'Bank files',
  base: '',
  aliases: [],
  description:
    'What a bank says: ISO 20022 status reports (pain.002.001.10) and notifications of booked entries (camt.054.001.08), and the credits that fit nothing, which an operator assigns.',
  operations: {
    receiveBankFile: {
      method: 'post',
      path: '/network/sepa/files',
      auth: ['network'],
      unlimited: true,
      takes: 'application/xml',
      summary: 'A bank sends a file',
      description:
        'The body is the file. It is signed like the messages of the card network, with the key of the bank; one of more than 1 MiB, up to 16 MiB, by its digest: `Content-Digest: sha-256=:<base64>:` and `X-Network-Signature: t=<unix seconds>,v2=<hex HMAC-SHA256(key, "v2.<t>.POST <request target as sent>.<value of Content-Digest>")>`, so that its signature is verified before its body is read. Four files of that size are received at once; a further one is answered with 503 and `Retry-After`. All of it is validated by its complete schema before the first line is booked. A file that comes again gets the same answer; one with a known message id and other content is refused with 409. Lines about transfers move these; credits go to the top-up that they name or to the wallet of their account, otherwise into suspense.',
      success: { status: 200, body: bankFileAnswer },
      refusals: [],
      fires: [
        'wallet.funded',
        'wallet.credited',
        'transfer.updated',
        'transfer.completed',
        'transfer.failed',
        'transfer.split.updated',
        'transfer.split.completed',
        'intent.completed',
        'intent.cancelled',
      ],
    },
    listBankEntries: {
      method: 'get',
      path: '/bank-entries',
      auth: ['dashboard'],
      ownerless: true,
      summary: 'Lines of banks’ files, newest first',
      description: 'With the dashboard secret. `status=suspense` lists the credits without an owner.',
      query: z.strictObject({
        ...pageQuery('bankEntry'),
        status: z
          .enum(bankEntryStatuses)
          .optional()
          .meta({ description: 'Only lines in this state.', examples: ['suspense'] }),
      }),
      success: { status: 200, body: pageOut(entry) },
      refusals: [],
    },
    assignBankEntry: {
      method: 'post',
      path: '/bank-entries/{id}/assign',
      auth: ['dashboard'],
      params: z.strictObject({ id: id('bankEntry') }),
      reaches: { 'params.id': { elsewhere: 'what can be assigned belongs to no owner' } },
      body: z
        .strictObject({
          walletId: id('wallet').meta({ description: 'The wallet that gets the money, of the owner in `X-Owner-Id`.' }),
          reason: prose(500).meta({
            description: 'How the operator found out; kept in the audit log.',
            examples: ['the payer confirmed by telephone'],
          }),
        })
        .meta({ id: 'AssignBankEntry' }),
      summary: 'Give a credit in suspense to a wallet',
      description:
        'With the dashboard secret, for the owner in `X-Owner-Id`. An unbooked credit that is `assignable` is booked first; 400 if its money has been booked since. A repeat for the same wallet changes nothing; what another wallet has got is not taken back.',
      success: { status: 200, body: entry },
      refusals: ['invalid_state', 'not_found'],
      fires: ['wallet.credited'],
      sealed: true,
    },
  },
});
