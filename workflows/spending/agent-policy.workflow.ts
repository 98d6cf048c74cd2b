/**
 * The expiry of one agent's policy: waits for it, has it acted upon once, and stays until the owner has changed the
 * policy or the agent is closed. Decides nothing: an expired policy refuses charges with or without this run.
 * @module
 */
import { condition, continueAsNew, workflowInfo } from '@temporalio/workflow';
import type { AgentPolicyActivities, AgentPolicyNext } from '../../activities/spending/agent-policy.activities.ts';
import type { PolicyExpiryView } from '../../src/domains/spending/policies/policy.messages.ts';
import { afterExpiry } from '../../src/domains/spending/policies/policy-expiry.rules.ts';
import { currentDetails } from '../lib/current-details.ts';
import { databaseSteps } from '../lib/database-steps.ts';
import { stageKeeper } from '../lib/stage.ts';
import { subjectOf } from '../lib/subject.ts';
import { onWake } from '../lib/wake.ts';

const { nextAgentPolicyStep, expireAgentPolicy } = databaseSteps<AgentPolicyActivities>();

export async function agentPolicy(input: { id: string }): Promise<PolicyExpiryView> {
  const agentId = subjectOf(input);
  const details = currentDetails('Reading the policy.');
  const showStage = stageKeeper();
  let woken = false;
  onWake(() => {
    woken = true;
  });
  const hasToLook = (): boolean => woken || workflowInfo().continueAsNewSuggested;

  for (;;) {
    woken = false; // Before asking, so that a wake during the question is not lost.
    const step: AgentPolicyNext = await nextAgentPolicyStep(agentId);
    showStage(stageOf[step.kind]);
    details.say(inWords(step));
    if (step.kind === 'expire') await expireAgentPolicy(agentId);
    else if (step.kind === 'wait') await condition(hasToLook, step.waitMs);
    else if (step.kind === 'expired') await condition(hasToLook);
    else if (!woken) return step.view; // Otherwise the policy has an expiry again.
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof agentPolicy>({ id: agentId });
  }
}

const stageOf: Readonly<Record<AgentPolicyNext['kind'], string>> = {
  wait: 'active',
  expire: 'active',
  expired: 'expired',
  final: 'ended',
};

const willBe = {
  freeze: 'its cards are frozen',
  close: 'its cards are closed for good',
  notify: 'its owner is told',
} as const;
const was = {
  freeze: 'its cards were frozen',
  close: 'its cards were closed for good',
  notify: 'its owner was told',
} as const;

/** No lengths of time here: the sentence is read hours after it was written. */
function inWords({ kind, view: { agentId, hasPolicy, action, expiresAt } }: AgentPolicyNext): string {
  const policy = `Policy of ${agentId}.`;
  if (kind === 'final') return `Done: ${hasPolicy ? 'the policy never expires' : 'the agent is closed'}. ${policy}`;
  if (kind === 'expired') {
    return `Expired at ${expiresAt} of business time; ${was[action]}. For more payments the owner has to ${afterExpiry[action]}. ${policy}`;
  }
  if (kind === 'expire') return `Expired at ${expiresAt} of business time; now ${willBe[action]}. ${policy}`;
  return `Waiting until ${expiresAt} of business time; then ${willBe[action]}, and no charge passes any more. ${policy}`;
}
