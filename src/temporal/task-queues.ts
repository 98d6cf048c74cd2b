/** The task queues; split by load where one worker process is not enough. A prefix keeps deployments apart. @module */
export type TaskQueues = { readonly main: string; readonly webhooks: string };

export const taskQueues = (prefix = 'bursar'): TaskQueues => ({
  main: `${prefix}-main`,
  webhooks: `${prefix}-webhooks`,
});
