/** The agent token operations as published. Wire shapes only; the rules live in agent-token.rules.ts. @module */
import * as z from 'zod';
import { defineArea } from '../../../http/route.ts';
import { id, idOut, instantOut, text } from '../../../http/schemas.ts';
import { scopes } from '../../../http/scopes.ts';
import { longestTokenDays } from './agent-token.rules.ts';

const scope = z.enum(['*', ...scopes]);

const known = {
  id: idOut('token'),
  agentId: idOut('agent'),
  label: z.string().nullable(),
  scopes: z.array(z.string()),
  expiresAt: instantOut.nullable().meta({
    description: 'in real time, which the sandbox clock does not move; null = never',
  }),
  hint: z.string(),
};

const NewToken = z
  .strictObject({ ...known, token: z.string().meta({ description: 'the secret; shown only here' }) })
  .meta({ id: 'NewAgentToken', description: 'An agent token with its secret, which is shown only once.' });

const listed = { ...known, createdAt: instantOut, lastUsedAt: instantOut.nullable(), revokedAt: instantOut.nullable() };
const Token = z.strictObject(listed).meta({ id: 'AgentToken', description: 'An agent token, without its secret.' });
const NamedToken = z
  .strictObject({ ...listed, agentName: z.string() })
  .meta({ id: 'NamedAgentToken', description: 'An agent token with the name of its agent.' });

export const agentTokensArea = defineArea({
  tag: 'Agent Tokens',
  base: '/agents',
  aliases: [],
  description: 'Scoped tokens, so that an autonomous runtime never holds the owner’s key.',
  operations: {
    createAgentToken: {
      method: 'post',
      path: '/{id}/tokens',
      summary: 'Create an agent token',
      description:
        '`*` grants every scope but cards.reveal, transfers.write, collect.pay, delegations.write and operations.call, which offers an MCP client the operations that have no tool of their own.',
      auth: ['key'],
      params: z.strictObject({ id: id('agent') }),
      body: z.strictObject({
        label: text(100).optional(),
        scopes: z.array(scope).min(1).max(scopes.length).default(['*']),
        expiresInDays: z.int().min(1).max(longestTokenDays).optional().meta({
          description: 'counted in real time, which the sandbox clock does not move; absent = never expires',
        }),
      }),
      success: { status: 201, body: NewToken },
      refusals: ['invalid_state', 'not_found'],
      fires: ['agent_token.created'],
      secret: true,
    },
    listAgentTokens: {
      method: 'get',
      path: '/{id}/tokens',
      summary: 'List the tokens of an agent',
      auth: ['key'],
      params: z.strictObject({ id: id('agent') }),
      unpaged: 'the specification has an array; revoked tokens stay in it',
      success: { status: 200, body: z.array(Token) },
      refusals: ['not_found'],
    },
    listAllAgentTokens: {
      method: 'get',
      path: '/tokens',
      summary: 'List the tokens of all agents',
      auth: ['key'],
      unpaged: 'the specification has an array; revoked tokens stay in it',
      success: { status: 200, body: z.array(NamedToken) },
      refusals: [],
    },
    revokeAgentToken: {
      method: 'delete',
      path: '/{id}/tokens/{tokenId}',
      reaches: { 'params.tokenId': { elsewhere: 'the token is locked by id, agent and owner' } },
      summary: 'Revoke an agent token',
      description: 'Counts from the commit, in every process. Revoking what is revoked already is 200 again.',
      auth: ['key'],
      params: z.strictObject({ id: id('agent'), tokenId: id('token') }),
      success: {
        status: 200,
        body: z
          .strictObject({ id: idOut('token'), revoked: z.literal(true) })
          .meta({ id: 'RevokedAgentToken', description: 'An agent token that is no longer valid.' }),
      },
      refusals: ['not_found'],
      fires: ['agent_token.revoked'],
    },
  },
});
