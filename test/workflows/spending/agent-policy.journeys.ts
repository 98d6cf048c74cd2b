/** The ways of an agent's policy that expires: changed in time, acted upon, taken away, and closed with its agent. @module */
import type { AgentPolicyNext } from '../../../activities/spending/agent-policy.activities.ts';
import { day, hour, minute } from '../../../src/kernel/instant.ts';
import type { Journey, WorkflowJourneys } from '../../support/record/stage.ts';

const run = (agentId: string) => [`agent-policy/${agentId}`, { agent: agentId, subject: agentId }] as const;

const frozenThenChanged: Journey = async (stage, { agent, policies, clock }) => {
  const { agentId, cardId } = await agent();
  const [id, names] = run(agentId);
  const set = (body: { expiresAfterMinutes?: number | null; expirationAction?: 'notify'; name?: string }) =>
    policies.updateAgentPolicy({ params: { agentId }, body });
  await set({ expiresAfterMinutes: 60 });
  await stage.observe('agentPolicy: waiting to freeze', id, names);
  await clock.advanceSandboxClock({ body: { ms: 30 * minute } });
  await set({ name: 'changed in time' });
  await clock.advanceSandboxClock({ body: { ms: hour } });
  await stage.observe('agentPolicy: frozen', id, names);
  await stage.observe('cardLifecycle: frozen by its policy', `card/${cardId}`, { agent: agentId, subject: cardId });
  await set({ expirationAction: 'notify' });
  await stage.observe('agentPolicy: waiting to notify', id, names);
  await clock.advanceSandboxClock({ body: { ms: hour } });
  await stage.observe('agentPolicy: notified', id, names);
  await set({ expiresAfterMinutes: null });
  await stage.observe('agentPolicy: without an expiry', id, names);
  return [{ workflow: 'agentPolicy', journey: 'frozen-notified-ended', workflowId: id }];
};

const closedWithItsAgent: Journey = async (stage, { agent, agents, policies, clock }) => {
  const { agentId } = await agent();
  const [id, names] = run(agentId);
  await policies.applyPolicy({ params: { agentId }, body: { presetId: 'one_time' } });
  await stage.observe('agentPolicy: waiting to close', id, names);
  await clock.advanceSandboxClock({ body: { ms: 24 * hour } });
  await stage.observe('agentPolicy: closed', id, names);
  await agents.closeAgent({ params: { id: agentId } });
  await stage.observe('agentPolicy: agent closed', id, names);
  return [{ workflow: 'agentPolicy', journey: 'closed-with-its-agent', workflowId: id }];
};

export const journeys: WorkflowJourneys = {
  workflows: {
    agentPolicy: {
      queue: 'main',
      id: 'agent-policy/{subject}',
      summary: 'Policy of agent {subject}: when it expires, acted upon once',
      hasAgent: true,
      histories: ['frozen-notified-ended', 'closed-with-its-agent'],
      stages: {
        'waiting to freeze': {
          stage: 'active',
          status: 'RUNNING',
          details: [
            'Waiting until {time} of business time; then its cards are frozen, and no charge passes any more. Policy of {agent}.',
          ],
        },
        'waiting to close': {
          stage: 'active',
          status: 'RUNNING',
          details: [
            'Waiting until {time} of business time; then its cards are closed for good, and no charge passes any more. Policy of {agent}.',
          ],
        },
        'waiting to notify': {
          stage: 'active',
          status: 'RUNNING',
          details: [
            'Waiting until {time} of business time; then its owner is notified, and no charge passes any more. Policy of {agent}.',
          ],
        },
        frozen: {
          stage: 'expired',
          status: 'RUNNING',
          details: [
            'Expired at {time} of business time; its cards were frozen. For more payments the owner has to change the policy, then unfreeze the cards. Policy of {agent}.',
          ],
        },
        closed: {
          stage: 'expired',
          status: 'RUNNING',
          details: [
            'Expired at {time} of business time; its cards were closed for good. For more payments the owner has to change the policy, then issue a new card. Policy of {agent}.',
          ],
        },
        notified: {
          stage: 'expired',
          status: 'RUNNING',
          details: [
            'Expired at {time} of business time; its owner was notified. For more payments the owner has to change the policy. Policy of {agent}.',
          ],
        },
        'without an expiry': {
          stage: 'ended',
          status: 'COMPLETED',
          details: ['Done: the policy never expires. Policy of {agent}.'],
        },
        'agent closed': {
          stage: 'ended',
          status: 'COMPLETED',
          details: ['Done: the agent is closed. Policy of {agent}.'],
        },
      },
    },
  },
  journeys: [frozenThenChanged, closedWithItsAgent],
  waiting: (seen) => ({
    nextAgentPolicyStep: async (id): Promise<AgentPolicyNext> => {
      const expiresAt = '2026-05-04T12:00:00.000Z';
      const view = { agentId: seen(id), hasPolicy: true, action: 'freeze', expiresAt } as const;
      return { kind: 'wait', waitMs: day, view };
    },
  }),
};
