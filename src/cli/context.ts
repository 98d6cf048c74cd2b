/** What every command works with. @module */
import type { Api } from './api.ts';
import type { ExitCode } from './exit-codes.ts';
import type { Output } from './output.ts';
import type { Environment, Settings } from './settings.ts';

export type Context = {
  readonly env: Environment;
  readonly settings: Settings;
  readonly api: Api;
  readonly out: Output;
  /** Asks a question on the terminal; undefined without a terminal. */
  readonly ask: ((question: string, otherwise: string) => Promise<string>) | undefined;
  /** Ends when the user interrupts the command. */
  readonly ended: AbortSignal;
};

export type Command<Given> = (context: Context, given: Given) => Promise<ExitCode>;
