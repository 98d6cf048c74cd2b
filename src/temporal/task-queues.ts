/** The task queues; split by load where one worker process is not enough. @module */
export const mainQueue = 'bursar-main';
export const webhooksQueue = 'bursar-webhooks';
export const queueOf = (workflow: string): string => (workflow === 'webhookDelivery' ? webhooksQueue : mainQueue);
