/** Webhooks: the operations, and the delivery of what happened. @module */
import { createSender, webhookHandlers, webhooksArea } from '../../domains/delivery/index.ts';
import { type Mounted, mounted } from '../../http/route.ts';
import type { Outbound } from '../../outbound/outbound.ts';
import type { Infrastructure } from '../infrastructure.ts';

export function deliveryAreas({ database, vault, config }: Infrastructure): Mounted[] {
  const allowedOrigins = config.BURSAR_ALLOWED_ORIGINS;
  return [mounted(webhooksArea, webhookHandlers({ database, vault, mode: config.BURSAR_MODE, allowedOrigins }))];
}

export const senderOf = ({ vault }: Infrastructure, outbound: Outbound) => createSender({ outbound, vault });
