/** The ledger: accounts, journals with their entries, seals and checkpoints. SQL functions write most of it. Persistence only. @module */
import { defineEntity, p } from '@mikro-orm/core';
import type { TableOf } from '../../../db/tables.ts';
import type { Cents } from '../../../kernel/money.ts';

export const LedgerAccountSchema = defineEntity({
  name: 'LedgerAccount',
  tableName: 'ledger_accounts',
  properties: {
    name: p.text().primary(),
    ownerId: p.text(),
    balanceCents: p.bigint('number').$type<Cents>().defaultRaw('default'),
    debitedCents: p.bigint('number').$type<Cents>().defaultRaw('default'),
    creditedCents: p.bigint('number').$type<Cents>().defaultRaw('default'),
    version: p.bigint('number').defaultRaw('default'),
    createdAt: p.datetime(),
    lastEntryAt: p.datetime().nullable(),
  },
});

export const ContraTotalSchema = defineEntity({
  name: 'ContraTotal',
  tableName: 'contra_totals',
  properties: {
    account: p.text().primary(),
    ownerId: p.text(),
    debitedCents: p.bigint('number').$type<Cents>(),
    creditedCents: p.bigint('number').$type<Cents>(),
    lines: p.bigint('number').defaultRaw('default'),
  },
});

export const ContraLineSchema = defineEntity({
  name: 'ContraLine',
  tableName: 'contra_lines',
  properties: {
    account: p.text().primary(),
    number: p.bigint('number').primary(),
    journalId: p.text(),
    line: p.smallint(),
    debitedCents: p.bigint('number').$type<Cents>(),
    creditedCents: p.bigint('number').$type<Cents>(),
  },
});

export const JournalSchema = defineEntity({
  name: 'Journal',
  tableName: 'journals',
  properties: {
    id: p.text().primary(),
    ownerId: p.text(),
    agentId: p.text().nullable(),
    kind: p.text(),
    referenceType: p.text(),
    referenceId: p.text(),
    cause: p.text(),
    memoCommitment: p.text().nullable(),
    requestId: p.text(),
    runId: p.text().nullable(),
    createdAt: p.datetime(),
    contentHash: p.text().nullable(),
  },
});

export const JournalTextSchema = defineEntity({
  name: 'JournalText',
  tableName: 'journal_texts',
  properties: {
    journalId: p.text().primary(),
    memo: p.text(),
    salt: p.text(),
  },
});

export const LedgerEntrySchema = defineEntity({
  name: 'LedgerEntry',
  tableName: 'ledger_entries',
  properties: {
    journalId: p.text().primary(),
    line: p.smallint().primary(),
    account: p.text(),
    amountCents: p.bigint('number').$type<Cents>(),
    balanceBeforeCents: p.bigint('number').$type<Cents>().nullable(),
    balanceAfterCents: p.bigint('number').$type<Cents>().nullable(),
    accountVersion: p.bigint('number').nullable(),
    createdAt: p.datetime(),
  },
});

export const UnsealedJournalSchema = defineEntity({
  name: 'UnsealedJournal',
  tableName: 'unsealed_journals',
  properties: {
    position: p.bigint('number').primary().defaultRaw('default'),
    journalId: p.text(),
    ownerId: p.text(),
  },
});

export const JournalSealSchema = defineEntity({
  name: 'JournalSeal',
  tableName: 'journal_seals',
  properties: {
    ownerId: p.text().primary(),
    sequence: p.bigint('number').primary(),
    journalId: p.text(),
    format: p.smallint().defaultRaw('default'),
    leaf: p.text().nullable(),
    hash: p.text(),
    sealedAt: p.datetime().nullable(),
  },
});

export const LedgerHeadSchema = defineEntity({
  name: 'LedgerHead',
  tableName: 'ledger_heads',
  properties: {
    ownerId: p.text().primary(),
    sequence: p.bigint('number'),
    hash: p.text(),
    checkpointedSequence: p.bigint('number').defaultRaw('default'),
    frontier: p.text().nullable(),
  },
});

export const LedgerCheckpointSchema = defineEntity({
  name: 'LedgerCheckpoint',
  tableName: 'ledger_checkpoints',
  properties: {
    ownerId: p.text().primary(),
    sequence: p.bigint('number').primary(),
    hash: p.text(),
    signature: p.text(),
    root: p.text(),
    rootSignature: p.text(),
    keyId: p.text(),
    treeRoot: p.text().nullable(),
    frontier: p.text().nullable(),
    createdAt: p.datetime(),
  },
});

export const LedgerVerifiedSchema = defineEntity({
  name: 'LedgerVerified',
  tableName: 'ledger_verified',
  properties: {
    ownerId: p.text().primary(),
    sequence: p.bigint('number'),
  },
});

export const LedgerSealedThroughSchema = defineEntity({
  name: 'LedgerSealedThrough',
  tableName: 'ledger_sealed_through',
  properties: {
    id: p.smallint().primary().defaultRaw('default'),
    at: p.datetime(),
  },
});

declare module '../../../db/tables.ts' {
  interface Tables {
    ledger_accounts: TableOf<typeof LedgerAccountSchema>;
    contra_lines: TableOf<typeof ContraLineSchema>;
    contra_totals: TableOf<typeof ContraTotalSchema>;
    journals: TableOf<typeof JournalSchema>;
    journal_texts: TableOf<typeof JournalTextSchema>;
    ledger_entries: TableOf<typeof LedgerEntrySchema>;
    unsealed_journals: TableOf<typeof UnsealedJournalSchema>;
    journal_seals: TableOf<typeof JournalSealSchema>;
    ledger_heads: TableOf<typeof LedgerHeadSchema>;
    ledger_checkpoints: TableOf<typeof LedgerCheckpointSchema>;
    ledger_sealed_through: TableOf<typeof LedgerSealedThroughSchema>;
    ledger_verified: TableOf<typeof LedgerVerifiedSchema>;
  }
}
