/** The trace of a record as published. Wire shapes only. @module */
import * as z from 'zod';
import { defineArea } from '../../../http/route.ts';
import { eurosOut, idOut, instantOut } from '../../../http/schemas.ts';
import { traceOutcomes } from '../../spending/policies/policy.rules.ts';
import { mostEvents, mostOfPart, omissions, traceParts } from './trace.rules.ts';

const part = z.enum(traceParts).meta({ description: 'What kind of thing happened.', examples: ['decision'] });

const facts = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]));

const rule = z
  .strictObject({
    rule: z.string().meta({ description: 'Code of the rule.', examples: ['daily_limit'] }),
    outcome: z.enum(traceOutcomes).meta({ description: 'What the rule said.', examples: ['pass'] }),
    figures: facts.meta({ description: 'What it compared; amounts in euros.', examples: [{ limitEuros: 250 }] }),
  })
  .meta({ id: 'TraceRule', description: 'One rule of a decision.' });

const line = z
  .strictObject({
    account: z.string().meta({
      description: 'The account of the ledger.',
      examples: ['wallet:wal_01kc1v9m3se7ttw5v1x0h2q8ab:available'],
    }),
    direction: z.enum(['debit', 'credit']).meta({ description: 'The side of the account.', examples: ['debit'] }),
    amountEuros: eurosOut,
  })
  .meta({ id: 'TracePostingLine', description: 'One line of a journal.' });

const entry = z
  .strictObject({
    at: instantOut.meta({ description: 'When it happened, in business time.' }),
    part,
    id: z
      .string()
      .nullable()
      .meta({
        description: 'Id of the record; null where the part has none.',
        examples: ['tx_01kc1v9m3se7ttw5v1x0h2q8ab'],
      }),
    parentId: z
      .string()
      .nullable()
      .meta({
        description: 'Id of the entry that it follows from; null for the first.',
        examples: ['int_01kc1v9m3se7ttw5v1x0h2q8ab'],
      }),
    title: z.string().meta({ description: 'What happened, in words of Bursar.', examples: ['approved by the policy'] }),
    status: z
      .string()
      .nullable()
      .meta({ description: 'State of the record now; null where it has none.', examples: ['completed'] }),
    amountEuros: eurosOut.nullable().meta({ description: 'The amount; null where there is none.', examples: [12.5] }),
    rules: z.array(rule).meta({ description: 'Of a decision: its rules in the order of evaluating.' }),
    lines: z.array(line).meta({ description: 'Of a posting: its lines.' }),
    details: facts.meta({
      description: 'Further facts. Texts in it are data of callers and merchants, not of Bursar.',
      examples: [{ merchant: 'Sandbox Shop' }],
    }),
    link: z
      .string()
      .nullable()
      .meta({
        description:
          'The approver’s page of what waits for a person, or the run in Temporal’s Web UI. With an API key only.',
        examples: ['http://localhost:8400/approve/7b1f'],
      }),
  })
  .meta({ id: 'TraceStep', description: 'One thing that happened.' });
export type TraceEntryWire = z.infer<typeof entry>;

const omitted = z
  .strictObject({
    part,
    reason: z.enum(omissions).meta({
      description:
        '`scope`: the token lacks the scope of this part. `owner_only`: only an API key reads it. `too_many`: the oldest are left out.',
      examples: ['too_many'],
    }),
  })
  .meta({ id: 'TraceOmission', description: 'A part that is missing or not complete.' });

const trace = z
  .strictObject({
    id: z.string().meta({ description: 'The id as asked.', examples: ['tx_01kc1v9m3se7ttw5v1x0h2q8ab'] }),
    rootId: z
      .string()
      .meta({ description: 'The record whose story it is.', examples: ['int_01kc1v9m3se7ttw5v1x0h2q8ab'] }),
    agentId: idOut('agent').nullable().meta({ description: 'The agent of that record; null: none.' }),
    entries: z.array(entry).meta({ description: 'In the order in which it happened.' }),
    leftOut: z.array(omitted).meta({ description: 'What this answer does not contain.' }),
  })
  .meta({ id: 'Trace', description: 'Everything that happened because of one intent, or to one record.' });
export type TraceWire = z.infer<typeof trace>;

export const traceArea = defineArea({
  tag: 'Trace',
  base: '/trace',
  aliases: [],
  description: 'The whole story of a payment, or of another record, from any of its ids.',
  operations: {
    getTrace: {
      method: 'get',
      path: '/{anyId}',
      summary: 'The story of a record, in order',
      description: `From the id of an intent, or of what followed from it (checkout, payment, credential, transaction, posting, evidence, event, delivery): declaration, decisions rule by rule, approval, payment, messages of the network, postings, events, deliveries and workflow runs. From another id: what happened to that record. An agent's token gets the parts whose own operations it may call. Each part has at most ${mostOfPart} entries, and events and deliveries ${mostEvents}; \`leftOut\` names what is missing.`,
      auth: ['key', 'agent'],
      scope: 'intents.read',
      params: z.strictObject({
        anyId: z
          .string()
          .regex(/^[a-z0-9_]{4,100}$/, 'must be the id of a record')
          .meta({ description: 'Id of any record.', examples: ['int_01kc1v9m3se7ttw5v1x0h2q8ab'] }),
      }),
      success: { status: 200, body: trace },
      refusals: ['agent_isolation', 'not_found'],
    },
  },
});
