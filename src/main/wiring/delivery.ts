/** Webhooks: the operations, and the delivery of what happened. @module */
import { createSender, webhookHandlers, webhooksArea } from '../../domains/delivery/index.ts';
import { type Mounted, mounted } from '../../http/route.ts';
import type { Outbound } from '../../outbound/outbound.ts';
import { urlRulesOf } from '../config.ts';
import type { Infrastructure } from '../infrastructure.ts';

export function deliveryAreas({ database, vault, config }: Infrastructure): Mounted[] {
  const { BURSAR_MODE: mode, BURSAR_WEBHOOKS_HTTPS_ONLY: httpsOnly } = config;
  const receivers = { ...urlRulesOf(config), httpsOnly };
  return [mounted(webhooksArea, webhookHandlers({ database, vault, mode, receivers }))];
}

export const senderOf = ({ vault, config }: Infrastructure, outbound: Outbound) =>
  createSender({ outbound, vault, httpsOnly: config.BURSAR_WEBHOOKS_HTTPS_ONLY });
