/** Instants and durations. Rules get `now` as an argument; nothing here reads a clock. @module */
export const second = 1_000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;

export const later = (from: Date, ms: number): Date => new Date(from.getTime() + ms);

/** Longest wait a workflow timer is given at once; a longer one is asked for again. */
export const longestWaitMs = 30 * day;

/** `3 days 4 h`, `12 min`, `8 s`: for people reading current details. */
export function lengthInWords(ms: number): string {
  if (ms >= day) return `${Math.floor(ms / day)} d ${Math.floor((ms % day) / hour)} h`;
  if (ms >= hour) return `${Math.floor(ms / hour)} h ${Math.floor((ms % hour) / minute)} min`;
  if (ms >= minute) return `${Math.floor(ms / minute)} min`;
  return `${Math.max(0, Math.ceil(ms / second))} s`;
}

/** What `toISOString` says, in a quarter of its time: a page of records has hundreds of instants. */
export function isoOf(at: Date): string {
  const year = at.getUTCFullYear();
  if (!(year >= 1_000 && year <= 9_999)) return at.toISOString();
  const date = `${year}-${two(at.getUTCMonth() + 1)}-${two(at.getUTCDate())}`;
  return `${date}T${two(at.getUTCHours())}:${two(at.getUTCMinutes())}:${two(at.getUTCSeconds())}.${three(at.getUTCMilliseconds())}Z`;
}

export const isoOrNull = (at: Date | null | undefined): string | null => (at == null ? null : isoOf(at));

const two = (value: number): string => (value < 10 ? `0${value}` : `${value}`);
const three = (value: number): string => (value < 100 ? `0${two(value)}` : `${value}`);
