/**
 * One call for all who ask while it is under way or shortly after its end: for questions that anybody may ask as often
 * as they like, and whose answer may be that old. A call that failed is not kept. (`shared-call.ts` is for answers that
 * must be new.)
 * @module
 */
export function keptCall<T>(work: () => Promise<T>, keptMs: number, now = () => performance.now()): () => Promise<T> {
  let kept: { readonly answer: Promise<T>; until: number } | undefined;
  return () => {
    if (kept !== undefined && now() < kept.until) return kept.answer;
    const asked = { answer: work(), until: Number.POSITIVE_INFINITY };
    kept = asked;
    const ended = () => {
      asked.until = now() + keptMs;
    };
    const failed = () => {
      asked.until = 0;
    };
    asked.answer.then(ended, failed);
    return asked.answer;
  };
}
