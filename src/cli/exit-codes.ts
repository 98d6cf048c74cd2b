/** How the command ends; docs/command-line.md publishes these. @module */
export const exitCodes = {
  done: 0,
  /** The service said no, a payment was declined, or a check found something wrong. */
  refused: 1,
  /** Wrong usage, or something that the command needs is missing. */
  usage: 2,
  /** A person has to decide first. */
  waits: 3,
  /** The service did not answer. */
  away: 4,
} as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Ends the command with this code and one sentence on stderr. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: ExitCode;
  constructor(exitCode: ExitCode, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}
