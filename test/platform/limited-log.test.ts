/** Goal: a flood of warnings costs a few lines a second, and says how many there were. Method: a log that remembers. @module */
import { expect, test } from '@jest/globals';
import { limitedWarn } from '../../src/platform/limited-log.ts';

test('the first of a second are logged whole, then their number, then the next ones whole again', async () => {
  const lines: unknown[][] = [];
  const log = { warn: (...line: unknown[]) => lines.push(line) } as never;
  const warn = limitedWarn(2);
  for (const requestId of ['a', 'b', 'c', 'd', 'e']) warn(log, { requestId }, 'answered 503');
  expect(lines).toEqual([
    [{ requestId: 'a' }, 'answered 503'],
    [{ requestId: 'b' }, 'answered 503'],
  ]);
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  warn(log, { requestId: 'f' }, 'answered 503');
  expect(lines.slice(2)).toEqual([
    [{ more: 3 }, 'answered 503, and more within a second'],
    [{ requestId: 'f' }, 'answered 503'],
  ]);
});
