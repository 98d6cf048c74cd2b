/** The evidence operations as published. Wire shapes only. @module */
import * as z from 'zod';
import type { Received } from '../../../http/cents-names.ts';
import { defineArea } from '../../../http/route.ts';
import { euros, eurosOut, id, idOut, instantOut, prose, text } from '../../../http/schemas.ts';
import { limits } from '../../../platform/limits.ts';
import { evidenceTypes, isWebAddress } from './evidence.rules.ts';

const evidenceOut = z
  .strictObject({
    id: idOut('evidence'),
    intentId: idOut('intent'),
    agentId: idOut('agent'),
    ownerId: idOut('owner'),
    type: z.enum(evidenceTypes),
    description: z.string().nullable(),
    url: z.string().nullable(),
    amountEuros: eurosOut.nullable(),
    merchant: z.string().nullable(),
    createdAt: instantOut,
  })
  .meta({ id: 'Evidence', description: 'A piece of evidence of what was paid for an intent.' });
export type EvidenceWire = z.infer<typeof evidenceOut>;

const creation = z.strictObject({
  intentId: id('intent'),
  type: z.enum(evidenceTypes).default('other'),
  description: prose(2000).optional(),
  url: z
    .string()
    .max(2048)
    .refine(isWebAddress, 'must be an http or https address without user and password')
    .optional()
    .meta({ format: 'uri', description: 'kept as given; Bursar never opens it' }),
  amountEuros: euros().optional(),
  merchant: text(200).optional(),
});
export type EvidenceBody = Received<typeof creation>;

const one = z.strictObject({ id: id('evidence') });

export const evidenceArea = defineArea({
  tag: 'Evidence',
  base: '/evidence',
  aliases: [],
  description: 'Receipts, screenshots and invoices that are kept beside an intent. Their addresses are never opened.',
  operations: {
    createEvidence: {
      method: 'post',
      path: '',
      summary: 'Keep evidence of what was paid for an intent',
      description: `An intent takes up to ${limits.evidence.most} of them, whatever its state.`,
      auth: ['key', 'agent'],
      scope: 'evidence.write',
      body: creation,
      success: { status: 201, body: evidenceOut },
      refusals: ['invalid_state', 'agent_isolation', 'not_found'],
      fires: ['evidence.created'],
    },
    listEvidence: {
      method: 'get',
      path: '',
      summary: 'All evidence of an intent, oldest first',
      auth: ['key', 'agent'],
      scope: 'evidence.read',
      query: z.strictObject({ intentId: id('intent') }),
      unpaged: 'an intent has few: limits.ts',
      success: { status: 200, body: z.array(evidenceOut) },
      refusals: ['agent_isolation', 'not_found'],
    },
    getEvidence: {
      method: 'get',
      path: '/{id}',
      summary: 'One piece of evidence',
      auth: ['key', 'agent'],
      scope: 'evidence.read',
      params: one,
      success: { status: 200, body: evidenceOut },
      refusals: ['agent_isolation', 'not_found'],
    },
    deleteEvidence: {
      method: 'delete',
      path: '/{id}',
      summary: 'Delete a piece of evidence for good',
      auth: ['key'],
      params: one,
      success: { status: 204 },
      refusals: ['not_found'],
      fires: ['evidence.deleted'],
    },
  },
});
