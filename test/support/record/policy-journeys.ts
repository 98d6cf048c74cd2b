/** The ways of an agent's policy that expires: changed in time, acted upon, taken away, and closed with its agent. @module */
import { hour, minute } from '../../../src/kernel/instant.ts';
import type { Journey } from './stage.ts';

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

export const policyJourneys: readonly Journey[] = [frozenThenChanged, closedWithItsAgent];
