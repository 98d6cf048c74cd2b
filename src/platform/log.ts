/**
 * The process's log: one JSON object per line on stdout. Messages, fields, errors and the bindings of child loggers are
 * redacted.
 * @module
 */
import { pino } from 'pino';
import { redact, redactText } from './redact.ts';

export type Logger = pino.Logger;
export type LogOptions = {
  readonly name: string;
  readonly level: string;
  readonly destination?: pino.DestinationStream;
};

export function createLogger({ name, level, destination = pino.destination(1) }: LogOptions): Logger {
  const logger = pino(
    {
      name,
      level,
      formatters: { level: (label) => ({ level: label }), log: redactFields },
      serializers: { msg: redactMessage, err: (error: unknown) => error },
    },
    destination,
  );
  const child = logger.child;
  // Bindings are written as they are given, past every formatter, so they are cleaned before they arrive.
  logger.child = function (this: Logger, bindings: object, options?: Parameters<typeof child>[1]) {
    return child.call(this, redactFields(bindings), options);
  } as typeof child;
  return logger;
}

const redactFields = (fields: object): Record<string, unknown> => redact(fields) as Record<string, unknown>;

const redactMessage = (message: unknown): unknown =>
  typeof message === 'string' ? redactText(message) : redact(message);
