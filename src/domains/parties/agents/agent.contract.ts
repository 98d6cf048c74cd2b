/** The agent operations as published. Wire shapes only; the rules live in agent.rules.ts. @module */
import * as z from 'zod';
import { defineArea } from '../../../http/route.ts';
import {
  atLeastOneField,
  euros,
  eurosOut,
  id,
  idOut,
  instantOut,
  pageOut,
  pageQuery,
  prose,
  text,
} from '../../../http/schemas.ts';
import { agentStatuses, requestSignatures } from './agent.rules.ts';

const status = z.enum(agentStatuses);
const signatures = z.enum(requestSignatures).meta({
  description:
    'With what its requests to merchants are signed (RFC 9421): not at all, in the profile of Web Bot Auth, in that of the Trusted Agent Protocol, or with one signature of each.',
  examples: ['web_bot_auth'],
});
const cardUsage = z.enum(['single', 'multi']);

const profile = z
  .strictObject({
    purpose: prose(500),
    framework: text(100).optional(),
    capabilities: z.array(text(100)).max(50).readonly().optional(),
    description: prose(2_000).optional(),
    department: text(100).optional(),
    ownerContact: text(200).optional(),
  })
  .meta({ id: 'AgentProfile', description: 'What the agent is, in your own words.' });

const Agent = z
  .strictObject({
    id: idOut('agent'),
    ownerId: idOut('owner'),
    name: z.string(),
    scope: z.string().nullable(),
    externalId: z.string().nullable(),
    status,
    cardBalanceEuros: eurosOut.meta({ description: 'what its cards can spend, in euros' }),
    walletBalanceEuros: eurosOut.meta({ description: 'what its wallet has available, in euros' }),
    cardPanMasked: z
      .string()
      .nullable()
      .meta({ examples: ['•••• 1234'] }),
    policyId: z.string().nullable(),
    cardId: z.string().nullable().meta({ description: 'its first open card' }),
    walletId: idOut('wallet'),
    funding: z.enum(['wallet', 'budget']).meta({ description: 'budget: draws only on what it was given' }),
    requestSignatures: signatures,
    profile: profile.nullable(),
    createdAt: instantOut,
  })
  .meta({ id: 'Agent', description: 'A software agent that can spend.' });

const AgentWallet = z
  .strictObject({
    agentId: idOut('agent'),
    issuer: z.string(),
    walletBalance: z.strictObject({ available: eurosOut, pending: eurosOut, total: eurosOut }),
    iban: z.string().nullable(),
    deposit: z.strictObject({ iban: z.string(), bic: z.string(), reference: z.string() }).nullable(),
    internalLedger: z.strictObject({ walletBalanceEuros: eurosOut }),
  })
  .meta({ id: 'AgentWallet', description: 'The wallet that an agent draws on.' });

const AgentStatus = z
  .strictObject({ agentId: idOut('agent'), status })
  .meta({ id: 'AgentStatus', description: 'An agent and its state.' });

const params = z.strictObject({ id: id('agent') });
const name = text(100);
const externalId = text(200);
const scope = text(500);

export const agentsArea = defineArea({
  tag: 'Agents',
  base: '/agents',
  aliases: [],
  description: 'Software agents that can spend: each owns cards, tokens and exactly one policy.',
  operations: {
    createAgent: {
      method: 'post',
      path: '',
      reaches: { 'body.policyId': { elsewhere: 'the rules are copied from a policy found by id and owner' } },
      summary: 'Create an agent with its policy and first card',
      description:
        'The policy is a copy of `policyId`, else the owner’s default, else the preset balanced. Waits for the card processor; 503 keeps the ids, and repeating with the same Idempotency-Key completes it.',
      auth: ['key'],
      body: z.strictObject({
        name: name.optional(),
        externalId: externalId.nullable().optional(),
        scope: scope.nullable().optional(),
        usage: cardUsage.default('multi'),
        policyId: id('policy').optional(),
        profile: profile.optional(),
      }),
      success: { status: 201, body: Agent },
      refusals: ['invalid_state', 'plan_limit_exceeded'],
      fires: ['agent.created', 'card.issued', 'card.activated', 'customer.created', 'wallet.created'],
    },
    listAgents: {
      method: 'get',
      path: '',
      summary: 'List agents',
      description: 'An agent token sees itself only.',
      auth: ['key', 'agent'],
      scope: 'agents.read',
      query: z.strictObject({
        ...pageQuery('agent'),
        status: status.optional().describe('only agents in this state'),
        externalId: externalId.optional().describe('only the agent that you know by this id'),
      }),
      success: { status: 200, body: pageOut(Agent) },
      refusals: [],
    },
    getAgent: {
      method: 'get',
      path: '/{id}',
      summary: 'Get an agent',
      reaches: {
        'params.id': { elsewhere: 'the statement that reads the agent names its owner, and the agent is compared' },
      },
      auth: ['key', 'agent'],
      scope: 'agents.read',
      params,
      success: { status: 200, body: Agent },
      refusals: ['agent_isolation', 'not_found'],
    },
    updateAgent: {
      method: 'patch',
      path: '/{id}',
      reaches: { 'body.policyId': { elsewhere: 'the rules are copied from a policy found by id and owner' } },
      summary: 'Change an agent',
      description:
        'A change of `status` does what freeze, unfreeze or delete do, in the same step as the rest. `policyId` overwrites the agent’s rules with those of that policy, as apply does; its own changes nothing. `requestSignatures` other than `none` makes the agent’s signing key, if it has none, and publishes it.',
      auth: ['key'],
      params,
      body: z
        .strictObject({
          name: name.optional(),
          externalId: externalId.nullable().optional(),
          scope: scope.nullable().optional(),
          status: status.optional(),
          profile: profile.nullable().optional(),
          requestSignatures: signatures.optional(),
          policyId: id('policy').optional(),
        })
        .refine(...atLeastOneField)
        .refine(
          ({ status: wanted, policyId }) => wanted !== 'closed' || policyId === undefined,
          'a closed agent has no policy: leave policyId or status out',
        )
        .meta({ minProperties: 1 }),
      success: { status: 200, body: Agent },
      refusals: ['invalid_state', 'not_found'],
      fires: [
        ...(['agent.updated', 'agent.frozen', 'agent.unfrozen', 'agent.closed', 'agent_token.revoked'] as const),
        ...(['card.frozen', 'card.unfrozen', 'card.closed', 'policy.updated', 'policy.deleted'] as const),
        ...([
          'intent.cancelled',
          'intent_window.missed',
          'mpp.credential.revoked',
          'card_request.decided',
          'card_limit_request.updated',
        ] as const),
      ],
    },
    closeAgent: {
      method: 'delete',
      path: '/{id}',
      summary: 'Close an agent',
      description:
        'For good: its cards are closed, its tokens revoked, its open intents and pending card requests cancelled, its policy removed, and its budget goes back to the wallet in its `walletId` (to the default one where that is closed): what is available at once, what is held as its holds end.',
      auth: ['key'],
      params,
      success: {
        status: 200,
        body: z
          .strictObject({ id: idOut('agent'), status })
          .meta({ id: 'ClosedAgent', description: 'An agent that was closed.' }),
      },
      refusals: ['not_found'],
      fires: [
        'agent.closed',
        'card.closed',
        'policy.deleted',
        'intent.cancelled',
        'intent_window.missed',
        'mpp.credential.revoked',
        'card_request.decided',
        'card_limit_request.updated',
        'agent_token.revoked',
      ],
    },
    fundAgent: {
      method: 'post',
      path: '/{id}/fund',
      summary: 'Give an agent a budget out of its wallet',
      description: 'From the first time on, its cards draw on the budget alone.',
      auth: ['key'],
      params,
      body: z.strictObject({ amount: euros({ minCents: 1, maxCents: 10_000_000 }) }),
      success: {
        status: 200,
        body: z
          .strictObject({
            agentId: idOut('agent'),
            amount: eurosOut,
            walletBalanceEuros: eurosOut,
            cardBalanceEuros: eurosOut,
          })
          .meta({ id: 'FundedAgent', description: 'The budget of an agent after it was increased.' }),
      },
      refusals: ['invalid_state', 'insufficient_funds', 'not_found'],
      fires: ['card.funded', 'wallet.credited'],
    },
    freezeAgent: {
      method: 'post',
      path: '/{id}/freeze',
      summary: 'Freeze an agent and its cards',
      description:
        'Its charges are declined and it declares nothing from the commit on, also with Temporal away. Freezing what is frozen already is 200 without an event; a closed agent is 400.',
      auth: ['key'],
      params,
      body: z.strictObject({ reason: prose(500).optional() }),
      success: { status: 200, body: AgentStatus },
      refusals: ['invalid_state', 'not_found'],
      fires: ['agent.frozen', 'card.frozen'],
    },
    unfreezeAgent: {
      method: 'post',
      path: '/{id}/unfreeze',
      summary: 'Unfreeze an agent and the cards frozen with it',
      description: 'A card that its owner or its policy froze stays frozen. 400 for an agent that is not frozen.',
      auth: ['key'],
      params,
      success: { status: 200, body: AgentStatus },
      refusals: ['invalid_state', 'not_found'],
      fires: ['agent.unfrozen', 'card.unfrozen'],
    },
    rotateAgentKey: {
      method: 'post',
      path: '/{id}/signing-key/rotate',
      summary: 'Rotate the signing key of an agent',
      description:
        'The agent signs with the new key at once. The former one stays published for the overlap, so that merchants verify what it signed; 0 takes it out at once, also the keys of earlier rotations. 400 for an agent without a key.',
      auth: ['key'],
      params,
      body: z
        .strictObject({
          overlapMinutes: z
            .int()
            .min(0)
            .max(1_440)
            .default(10)
            .meta({ description: 'How long the former key stays published, in real time.', examples: [10] }),
        })
        .meta({ id: 'RotateAgentKey' }),
      success: {
        status: 200,
        body: z
          .strictObject({
            agentId: idOut('agent'),
            kid: z.string().meta({
              description: 'The name of the new key: its thumbprint (RFC 7638).',
              examples: ['kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k'],
            }),
            formerKid: z.string().meta({
              description: 'The name of the key that signed until now.',
              examples: ['poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U'],
            }),
            formerUntil: instantOut.meta({ description: 'Until when the former key is published, in real time.' }),
          })
          .meta({ id: 'RotatedAgentKey', description: 'The signing key of an agent after its rotation.' }),
      },
      refusals: ['invalid_state', 'not_found'],
      fires: ['agent_key.rotated'],
    },
    getAgentWallet: {
      method: 'get',
      path: '/{id}/wallet',
      summary: 'Get the wallet an agent draws on',
      auth: ['key', 'agent'],
      scope: 'wallets.read',
      params,
      success: { status: 200, body: AgentWallet },
      refusals: ['agent_isolation', 'not_found'],
    },
  },
});

export type AgentRecord = z.infer<typeof Agent>;
export type AgentWalletRecord = z.infer<typeof AgentWallet>;
