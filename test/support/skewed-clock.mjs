/**
 * Loaded before a process of an installation (`--import`): its real clock is as far off as the file TEST_CLOCKS says for
 * the name of its entry, `{"api":600000}`. What was read counts for 20 ms, whenever the process gets the
 * processor. Timers are not changed.
 * @module
 */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

const RealDate = globalThis.Date;
const name = basename(process.argv[1] ?? '', '.ts');
const countsMs = 20;
let offsetMs = 0;
let readAt = Number.NEGATIVE_INFINITY;

const now = () => {
  const at = performance.now();
  if (at - readAt >= countsMs) {
    readAt = at;
    offsetMs = JSON.parse(readFileSync(process.env.TEST_CLOCKS, 'utf8'))[name] ?? 0;
  }
  return RealDate.now() + offsetMs;
};
globalThis.Date = new Proxy(RealDate, {
  construct: (target, given, newTarget) => Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget),
  get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
});
