/** What travels between the worker and the retry workflow: names, ids and what an operator reads. @module */
import type { Id } from '../../../kernel/ids.ts';
import type { DeliveryStatus } from './delivery.rules.ts';

export const deliveryWorkflow = 'webhookDelivery';
export const deliveryProcessId = (id: Id<'delivery'>): string => `webhook-delivery/${id}`;

/** The search attribute `BursarStage`. */
export type DeliveryStage = 'retrying' | 'delivered' | 'exhausted' | 'dead-lettered';
export const stageOf: Readonly<Record<DeliveryStatus, DeliveryStage>> = {
  pending: 'retrying',
  delivering: 'retrying',
  succeeded: 'delivered',
  failed: 'exhausted',
  dead: 'dead-lettered',
};

export type DeliveryView = {
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly event: string;
  readonly status: DeliveryStatus;
  readonly attemptsMade: number;
  readonly maxAttempts: number;
  readonly lastStatus: number | null;
};

/** What a retry does now. `waitMs` is business time, in full; `until` is when it ends. */
export type DeliveryNext = {
  readonly kind: 'final' | 'attempt' | 'wait';
  readonly waitMs: number;
  readonly until: string | null;
  readonly view: DeliveryView;
};
