/**
 * Records what clients saw, one history for the wallets of a run and one for each of its intents, in the form that
 * `linearizability/` reads. An operation whose outcome its client does not know has no return.
 * @module
 */
export type Seen = { readonly out: 'ok' | 'refused' | 'unknown'; readonly balance?: number; readonly status?: string };

/** What a client asks for. */
export type Asked = {
  /** `wallets`, or the number of an intent. */
  readonly of: string;
  readonly op: string;
  readonly from?: number;
  readonly to?: number;
  readonly cents?: number;
};

export type Line = Asked &
  Seen & { history: string; model: string; client: number; call: number; return: number | null };

export type HistoryRecord = {
  add(client: number, asked: Asked, seen: Seen, times: { readonly call: number; readonly return: number }): void;
  readonly lines: readonly Line[];
};

/** In microseconds, of one clock for all clients. */
export const instant = (): number => Math.round(performance.now() * 1_000);

export function historyRecord(run: string): HistoryRecord {
  const lines: Line[] = [];
  return {
    lines,
    add: (client, asked, seen, times) => {
      const place = { history: `${run}/${asked.of}`, model: asked.of === 'wallets' ? 'wallet' : 'intent', client };
      lines.push({
        ...place,
        ...asked,
        ...seen,
        call: times.call,
        return: seen.out === 'unknown' ? null : times.return,
      });
    },
  };
}
