/**
 * Waits for notifications that name a record, so that a caller need not read its row again and again. A notification
 * can be lost: every wait also ends by time, sooner while nothing is heard, and then the caller reads the row.
 * @module
 */
import { second } from '../kernel/instant.ts';
import { type ListenerOptions, startListener } from './listener.ts';

export type Notices = {
  /** Hears the notifications of one record from now on, until `end`. */
  watch(id: string): Watch;
  close(): Promise<void>;
};

export type Watch = {
  /** Ends with a notification since the last call, or after `ms` at the latest. */
  next(ms: number): Promise<void>;
  end(): void;
};

type Options = Pick<ListenerOptions, 'url' | 'applicationName' | 'log'> & {
  readonly channel: string;
  /** The longest wait while notifications are heard, and while they are not. */
  readonly longestMs?: number;
  readonly longestUnheardMs?: number;
};

export function openNotices({
  channel,
  longestMs = second,
  longestUnheardMs = second / 20,
  ...options
}: Options): Notices {
  const watches = new Map<string, Set<() => void>>();
  let isListening = false;
  const tell = (id: string): void => {
    for (const notice of watches.get(id) ?? []) notice();
  };
  const listener = startListener({
    ...options,
    channels: { [channel]: tell },
    onListening: (now) => {
      isListening = now;
      for (const id of watches.keys()) tell(id); // What was notified before was not heard.
    },
  });

  return {
    watch: (id) => {
      let isNotified = false;
      let wake = (): void => undefined;
      const notice = (): void => {
        isNotified = true;
        wake();
      };
      const ofRecord = watches.get(id) ?? new Set();
      watches.set(id, ofRecord.add(notice));
      return {
        next: async (ms) => {
          if (!isNotified) {
            const { promise, resolve } = Promise.withResolvers<void>();
            wake = resolve;
            const timer = setTimeout(resolve, Math.max(0, Math.min(ms, isListening ? longestMs : longestUnheardMs)));
            await promise;
            clearTimeout(timer);
          }
          isNotified = false;
        },
        end: () => {
          ofRecord.delete(notice);
          if (ofRecord.size === 0 && watches.get(id) === ofRecord) watches.delete(id);
        },
      };
    },
    close: listener.stop,
  };
}
