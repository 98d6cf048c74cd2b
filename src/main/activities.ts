/** Every activity that the worker registers, with the ports it dials through. @module */
import { cardActivities } from '../../activities/cards/card.activities.ts';
import { webhookEndpointActivities } from '../../activities/delivery/webhook-endpoint.activities.ts';
import { checkoutActivities } from '../../activities/payments/checkout.activities.ts';
import { simulationActivities } from '../../activities/payments/simulation.activities.ts';
import { agentPolicyActivities } from '../../activities/spending/agent-policy.activities.ts';
import { intentActivities } from '../../activities/spending/intent.activities.ts';
import { createSandboxCardProcessor } from '../adapters/card-processor/sandbox.ts';
import { createBursarCheckout } from '../adapters/merchant-checkout/bursar-checkout.ts';
import { createSandboxNetwork } from '../adapters/network-simulator/sandbox.ts';
import type { CardProcessor } from '../domains/cards/index.ts';
import { agentBecomesVisible } from '../domains/parties/index.ts';
import type { NetworkSimulator } from '../domains/payments/index.ts';
import type { Id } from '../kernel/ids.ts';
import type { Outbound } from '../outbound/outbound.ts';
import { claimLimits } from '../relay/deliveries.ts';
import type { RetrySender } from '../relay/retries.ts';
import { reassignPayments } from '../usecases/cards/rotate-card.ts';
import { evaluateCharge } from '../usecases/payments/evaluate-charge.ts';
import { riskOf } from '../usecases/spending/spending-facts.ts';
import type { Infrastructure } from './infrastructure.ts';

export type WorkerPorts = { readonly outbound: Outbound; readonly retries: RetrySender };

export function workerActivities(infrastructure: Infrastructure, { outbound, retries }: WorkerPorts) {
  const { database, clock, config, vault, links } = infrastructure;
  const { processor, simulator } = sandboxOf(infrastructure, outbound);
  return {
    ...intentActivities({
      database,
      clock,
      signalsMayApprove: config.signalsMayApprove,
      links,
      vault,
    }),
    ...agentPolicyActivities({ database, clock }),
    ...cardActivities({
      database,
      clock,
      processor,
      onActivated: async (tx, cause, { agentId, cardId: to, previousCardId: from }) => {
        await agentBecomesVisible(tx, cause, agentId as Id<'agent'>);
        if (from !== undefined) await reassignPayments(tx, cause, { agentId, from, to });
      },
    }),
    ...checkoutActivities({
      database,
      clock,
      cardProcessor: processor,
      evaluate: evaluateCharge({ riskOf }),
      merchantCheckout: createBursarCheckout({ outbound }),
    }),
    ...simulationActivities({ database, clock, simulator }),
    ...webhookEndpointActivities({
      database,
      clock,
      attemptDue: retries.attemptDue,
      perReceiver: claimLimits.perReceiver,
    }),
  };
}

type Simulated = { readonly processor: CardProcessor; readonly simulator: NetworkSimulator };

function sandboxOf({ config }: Infrastructure, outbound: Outbound): Simulated {
  const { BURSAR_SANDBOX_URL: sandboxUrl } = config;
  if (sandboxUrl === undefined) throw new Error('no card processor is configured: set BURSAR_SANDBOX_URL');
  const sandbox = { sandboxUrl, outbound };
  return { processor: createSandboxCardProcessor(sandbox), simulator: createSandboxNetwork(sandbox) };
}
