/**
 * Warnings that a flood of requests causes: the first of each second are logged whole, and of the rest how many there
 * were. Each one would cost as much as the request that it is about, and fill the log.
 * @module
 */
import { second } from '../kernel/instant.ts';
import type { Logger } from './log.ts';

export type LimitedWarn = (log: Pick<Logger, 'warn'>, fields: object, message: string) => void;

export function limitedWarn(mostASecond = 10): LimitedWarn {
  let current = { until: Number.NEGATIVE_INFINITY, count: 0 };
  return (log, fields, message) => {
    const now = performance.now();
    if (now >= current.until) current = { until: now + second, count: 0 };
    const window = current;
    window.count += 1;
    if (window.count <= mostASecond) return log.warn(fields, message);
    if (window.count > mostASecond + 1) return;
    const sayRest = (): void => log.warn({ more: window.count - mostASecond }, `${message}, and more within a second`);
    setTimeout(sayRest, window.until - now).unref();
  };
}
