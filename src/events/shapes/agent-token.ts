/** The `data` of the events of an agent token. @module */
import * as z from 'zod';
import { code, id, instant, named } from '../fields.ts';

export const agentTokenData = named('AgentTokenEventData', {
  id: id('token'),
  ownerId: id('owner'),
  agentId: id('agent'),
  status: code,
  scopes: z.array(z.string().regex(/^(\*|[a-z]+\.[a-z]+)$/)),
  expiresAt: instant.nullable(),
});
