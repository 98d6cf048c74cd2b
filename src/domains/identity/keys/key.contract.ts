/** The API key operations as published. Wire shapes only; the rules live in key.rules.ts. @module */
import * as z from 'zod';
import { defineArea } from '../../../http/route.ts';
import { id, idOut, instantOut, text } from '../../../http/schemas.ts';
import type { Id } from '../../../kernel/ids.ts';

const ownerId = z
  .string()
  .regex(/^own_[a-z0-9]{8,40}$/, 'must be an owner id: own_ and 8 to 40 lower-case letters or digits')
  .transform((value) => value as Id<'owner'>);

const NewKey = z
  .strictObject({
    id: idOut('key'),
    key: z.string().meta({ description: 'the secret; shown only here' }),
    ownerId: idOut('owner'),
    label: z.string().nullable(),
    hint: z.string(),
  })
  .meta({ id: 'NewApiKey', description: 'An API key with its secret, which is shown only once.' });

const Key = z
  .strictObject({
    id: idOut('key'),
    label: z.string().nullable(),
    createdAt: instantOut,
    hint: z.string(),
    isCurrent: z.boolean().meta({ description: 'the key that made this call' }),
  })
  .meta({ id: 'ApiKey', description: 'An API key, without its secret.' });

const Revoked = z
  .strictObject({ id: idOut('key'), revoked: z.literal(true) })
  .meta({ id: 'RevokedApiKey', description: 'An API key that is no longer valid.' });

const revoke = {
  auth: ['key', 'dashboard'],
  params: z.strictObject({ id: id('key') }),
  reaches: { 'params.id': { elsewhere: 'the keys are locked by owner' } },
  success: { status: 200, body: Revoked },
  refusals: ['invalid_state', 'not_found'],
  fires: ['api_key.revoked'],
  description:
    'Counts from the commit, in every process. The last live key of an owner is refused with 400; revoking what is revoked already is 200 again.',
} as const;

export const keysArea = defineArea({
  tag: 'Keys',
  base: '/keys',
  aliases: [],
  description: 'Owner API keys. A secret is shown once, when its key is created.',
  operations: {
    createKey: {
      method: 'post',
      path: '/create',
      ownerless: true,
      summary: 'Create an API key',
      description:
        'With an API key: another one for the same owner. With the dashboard secret: for `ownerId`, known or new, or for a new owner when there is none.',
      auth: ['key', 'dashboard'],
      body: z.strictObject({ ownerId: ownerId.optional(), label: text(100).optional() }),
      success: { status: 201, body: NewKey },
      refusals: ['invalid_state'],
      fires: ['api_key.created'],
      secret: true,
    },
    listKeys: {
      method: 'get',
      path: '',
      ownerless: true,
      summary: 'List the live API keys',
      auth: ['key', 'dashboard'],
      query: z.strictObject({ ownerId: ownerId.optional().describe('with the dashboard secret: whose keys') }),
      unpaged: 'live keys only, and an owner has few: limits.ts',
      success: { status: 200, body: z.array(Key) },
      refusals: [],
    },
    revokeKeyByDelete: { ...revoke, method: 'delete', path: '/{id}', summary: 'Revoke an API key' },
    revokeKey: { ...revoke, method: 'post', path: '/{id}/revoke', summary: 'Revoke an API key' },
  },
});
