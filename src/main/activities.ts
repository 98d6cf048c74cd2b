/** Every activity that the worker registers, with the ports it dials through. @module */
import { cardActivities } from '../../activities/cards/card.activities.ts';
import { webhookDeliveryActivities } from '../../activities/delivery/webhook-delivery.activities.ts';
import { checkoutActivities } from '../../activities/payments/checkout.activities.ts';
import { agentPolicyActivities } from '../../activities/spending/agent-policy.activities.ts';
import { intentActivities } from '../../activities/spending/intent.activities.ts';
import { createSandboxCardProcessor } from '../adapters/card-processor/sandbox.ts';
import { createBursarCheckout } from '../adapters/merchant-checkout/bursar-checkout.ts';
import type { CardProcessor } from '../domains/cards/index.ts';
import type { SendDelivery } from '../domains/delivery/index.ts';
import { agentBecomesVisible } from '../domains/parties/index.ts';
import { createApprovalLinks } from '../domains/spending/intents/index.ts';
import type { Id } from '../kernel/ids.ts';
import type { Outbound } from '../outbound/outbound.ts';
import { claimLimits } from '../relay/deliveries.ts';
import type { Infrastructure } from './infrastructure.ts';

export type WorkerPorts = { readonly outbound: Outbound; readonly send: SendDelivery };

export function workerActivities(infrastructure: Infrastructure, { outbound, send }: WorkerPorts) {
  const { database, clock, config, vault } = infrastructure;
  const processor = cardProcessorOf(infrastructure, outbound);
  return {
    ...intentActivities({
      database,
      clock,
      signalsMayApprove: config.signalsMayApprove,
      links: createApprovalLinks({ vault, publicUrl: config.publicUrl }),
    }),
    ...agentPolicyActivities({ database, clock }),
    ...cardActivities({
      database,
      clock,
      processor,
      onActivated: async (tx, cause, { agentId }) => {
        await agentBecomesVisible(tx, cause, agentId as Id<'agent'>);
      },
    }),
    ...checkoutActivities({
      database,
      clock,
      cardProcessor: processor,
      merchantCheckout: createBursarCheckout({ outbound }),
    }),
    ...webhookDeliveryActivities({ database, clock, send, claimLimits }),
  };
}

function cardProcessorOf({ config }: Infrastructure, outbound: Outbound): CardProcessor {
  const { BURSAR_SANDBOX_URL: sandboxUrl } = config;
  if (sandboxUrl === undefined) throw new Error('no card processor is configured: set BURSAR_SANDBOX_URL');
  return createSandboxCardProcessor({ sandboxUrl, outbound });
}
