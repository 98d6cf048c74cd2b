/**
 * The expiry of one agent's policy: waits for the expiry, then freezes or closes the agent's cards or notifies the
 * owner, once. A loop, because the owner can change the policy at any time; the run ends when the policy has no expiry
 * or the agent is closed. An expired policy refuses charges with or without this run.
 * @module
 */
import { condition } from '@temporalio/workflow';
import type { AgentPolicyActivities, AgentPolicyNext } from '../../activities/spending/agent-policy.activities.ts';
import type { PolicyExpiryView } from '../../src/domains/spending/policies/policy.messages.ts';
import { afterExpiry } from '../../src/domains/spending/policies/policy-expiry.rules.ts';
import { continueIfHistoryIsLong, isHistoryLong } from '../lib/continue-as-new.ts';
import { currentDetails } from '../lib/current-details.ts';
import { stageKeeper } from '../lib/stage.ts';
import { databaseSteps } from '../lib/steps.ts';
import { subjectOf } from '../lib/subject.ts';
import { onWake } from '../lib/wake.ts';

const { nextAgentPolicyStep, expireAgentPolicy } = databaseSteps<AgentPolicyActivities>()({
  nextAgentPolicyStep: 'Reading the policy',
  expireAgentPolicy: 'Carrying out the expiry of the policy',
});

export async function agentPolicy(input: { id: string }): Promise<PolicyExpiryView> {
  const agentId = subjectOf(input);
  const details = currentDetails('Reading the policy.');
  const showStage = stageKeeper();
  let isStale = false;
  onWake(() => {
    isStale = true;
  });
  const hasToRead = (): boolean => isStale || isHistoryLong();

  for (;;) {
    isStale = false; // Before the read, so that a wake during it is not lost.
    const step: AgentPolicyNext = await nextAgentPolicyStep(agentId);
    showStage(stageOf[step.kind]);
    details.say(inWords(step));
    if (step.kind === 'expire') await expireAgentPolicy(agentId);
    else if (step.kind === 'wait') await condition(hasToRead, step.waitMs, { summary: 'until the policy expires' });
    else if (step.kind === 'expired') await condition(hasToRead);
    else if (!isStale) return step.view; // Otherwise the policy has an expiry again.
    if (isHistoryLong()) await continueIfHistoryIsLong(agentId);
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
  notify: 'its owner is notified',
} as const;
const was = {
  freeze: 'its cards were frozen',
  close: 'its cards were closed for good',
  notify: 'its owner was notified',
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
