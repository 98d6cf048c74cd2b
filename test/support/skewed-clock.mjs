/**
 * Loaded before a process of an installation (`--import`): its real clock is as far off as the file TEST_CLOCKS says for
 * the name of its entry, `{"api":600000}`. The file is read again every 50 ms. Timers are not changed.
 * @module
 */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

const RealDate = globalThis.Date;
const name = basename(process.argv[1] ?? '', '.ts');
let offsetMs = 0;

const read = () => {
  offsetMs = JSON.parse(readFileSync(process.env.TEST_CLOCKS, 'utf8'))[name] ?? 0;
};
const now = () => RealDate.now() + offsetMs;

read();
setInterval(read, 50).unref();
globalThis.Date = new Proxy(RealDate, {
  construct: (target, given, newTarget) => Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget),
  get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
});
