/** Counts every answer of a load run by operation and status, and keeps what must not happen. @module */
import { percentile } from '../../bench/support/figures.ts';

export type Answer = { readonly status: number; readonly body: Record<string, unknown>; readonly headers: Headers };

export type Recorder = {
  /** Sends once and records; a request without any answer counts as status 0. */
  timed(operation: string, send: () => Promise<Response>): Promise<Answer>;
  fault(what: string): void;
  readonly faults: readonly string[];
  table(): string[];
  readonly requests: number;
};

type Line = { ms: number[]; statuses: Map<number, number>; sentences: Map<string, number> };

export function createRecorder(): Recorder {
  const lines = new Map<string, Line>();
  const faults: string[] = [];
  let requests = 0;

  const lineOf = (operation: string): Line => {
    const line = lines.get(operation) ?? { ms: [], statuses: new Map(), sentences: new Map() };
    lines.set(operation, line);
    return line;
  };
  const fault = (what: string): void => {
    if (faults.length < 200) faults.push(what);
  };

  return {
    fault,
    faults,
    get requests() {
      return requests;
    },
    timed: async (operation, send) => {
      requests += 1;
      const since = performance.now();
      const answer: Answer = await answerOf(send).catch((error: unknown) => {
        fault(`${operation}: no answer (${error instanceof Error ? error.message : String(error)})`);
        return { status: 0, body: {}, headers: new Headers() };
      });
      const line = lineOf(operation);
      line.ms.push(performance.now() - since);
      line.statuses.set(answer.status, (line.statuses.get(answer.status) ?? 0) + 1);
      if (answer.status >= 400) {
        const sentence = `${answer.status} ${withoutIds(String(answer.body.error))}`;
        line.sentences.set(sentence, (line.sentences.get(sentence) ?? 0) + 1);
      }
      if (answer.status >= 500 && !(answer.status === 503 && answer.headers.has('retry-after'))) {
        fault(`${operation}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 200)}`);
      }
      return answer;
    },
    table: () =>
      [...lines].flatMap(([operation, { ms, statuses, sentences }]) => {
        const counts = [...statuses].sort().map(([status, count]) => `${status}: ${count}`);
        const times = `p50 ${Math.round(percentile(ms, 0.5))} ms, p99 ${Math.round(percentile(ms, 0.99))} ms`;
        const refusals = [...sentences].sort((a, b) => b[1] - a[1]).slice(0, 4);
        return [
          `${operation.padEnd(16)} ${String(ms.length).padStart(6)}  ${times.padEnd(28)} ${counts.join(', ')}`,
          ...refusals.map(([sentence, count]) => `                   ${count} × ${sentence.slice(0, 150)}`),
        ];
      }),
  };
}

async function answerOf(send: () => Promise<Response>): Promise<Answer> {
  const answer = await send();
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? {} : JSON.parse(text), headers: answer.headers };
}

/** Sentences that differ only in ids and figures count as one. */
const withoutIds = (sentence: string): string =>
  sentence.replaceAll(/\b[a-z]{2,4}_[a-z0-9]{8,}\b/g, 'ID').replaceAll(/\d+(\.\d+)?/g, 'N');
