/** Every way into the log passes the redactor, and each line is one JSON object. @module */
import { expect, test } from '@jest/globals';
import { createLogger } from '../../src/platform/log.ts';

const secret = 'sk_live_0123456789abcdefghij';

function collecting(level = 'debug'): { lines: string[]; logger: ReturnType<typeof createLogger> } {
  const lines: string[] = [];
  return { lines, logger: createLogger({ name: 'test', level, destination: { write: (line) => lines.push(line) } }) };
}

test('no way of logging lets a secret through', () => {
  const { lines, logger } = collecting();
  logger.info(`key ${secret}`);
  logger.info('key %s and %j', secret, { secret });
  logger.info({ deep: { er: [secret] } }, `with ${secret}`);
  logger.info({ authorization: 'Basic plain' });
  logger.error(new Error(`failed with ${secret}`));
  logger.error({ err: new Error(`failed with ${secret}`, { cause: new Error(secret) }) }, 'failed');
  logger.child({ caller: secret }).info('child');
  logger
    .child({ a: 1 })
    .child({ b: { c: secret } }, { level: 'info' })
    .info({ d: secret });
  logger.info({ msg: secret });
  expect(lines).toHaveLength(9);
  for (const line of lines) {
    expect(line).not.toContain(secret);
    expect(line).not.toContain('plain');
    expect(JSON.parse(line)).toMatchObject({ name: 'test' });
    expect(line).toContain('[redacted]');
  }
});

test('a line has level, name, message, fields and the error with its stack', () => {
  const { lines, logger } = collecting();
  logger.warn({ intentId: 'int_01', err: new TypeError('broken') }, 'odd');
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    level: 'warn',
    name: 'test',
    msg: 'odd',
    intentId: 'int_01',
    err: { type: 'TypeError', message: 'broken', stack: expect.stringContaining('log.test.ts') },
  });
});

test('lower levels are left out, in children too', () => {
  const { lines, logger } = collecting('warn');
  logger.info('no');
  logger.child({ a: 1 }).info('no');
  logger.child({ a: 1 }).warn('yes');
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ a: 1, msg: 'yes' });
});

test('a database error is written with its cause, and without the row or the query', () => {
  const { lines, logger } = collecting();
  const failing = Object.assign(
    new Error('new row for relation "intents" violates check constraint "no_grants"\n - detail: Erika'),
    {
      name: 'CheckConstraintViolationException',
      severity: 'ERROR',
      code: '23514',
      table: 'intents',
      constraint: 'no_grants',
      detail: 'Failing row contains (int_1, Medication of Erika).',
      where: 'SQL statement "insert … Erika"',
      hint: 'Erika',
      query: { text: 'insert into intents values ($1)', values: ['Erika'] },
      internalQuery: 'select Erika',
    },
  );
  const unreadable = Object.assign(new Error('invalid input syntax for type uuid: "Erika\n    at Erika (a:1:2)"'), {
    severity: 'ERROR',
    code: '22P02',
  });
  logger.warn({ err: failing }, 'failed');
  logger.error(new Error('around it', { cause: unreadable }));
  for (const line of lines) expect(line).not.toContain('Erika');
  expect(JSON.parse(lines[0] ?? '').err).toEqual({
    type: 'CheckConstraintViolationException',
    message: 'new row for relation "intents" violates check constraint "no_grants"',
    stack: expect.stringContaining('log.test.ts'),
    code: '23514',
    severity: 'ERROR',
    table: 'intents',
    constraint: 'no_grants',
  });
  expect(lines[1]).toContain('22P02');
});
