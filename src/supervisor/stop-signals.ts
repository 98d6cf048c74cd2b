/** Turns Ctrl-C and termination signals into one clean stop, and a second Ctrl-C into an immediate end. @module */
export type StopSignals = {
  /** Resolves with the signal's name when one came. */
  came: Promise<NodeJS.Signals>;
  release(): void;
};

// npm forwards Ctrl-C to a child that the terminal has signalled already, so one keystroke arrives two or three times
const sameKeystrokeMs = 1_000;

export function stopSignals({ again }: { again: () => void }): StopSignals {
  let firstAt: number | undefined;
  let settle: (signal: NodeJS.Signals) => void = () => undefined;
  const came = new Promise<NodeJS.Signals>((resolve) => {
    settle = resolve;
  });
  const listener = (signal: NodeJS.Signals) => {
    if (firstAt === undefined) {
      firstAt = performance.now();
      settle(signal);
    } else if (performance.now() - firstAt > sameKeystrokeMs) again();
  };
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const name of names) process.on(name, listener);
  return {
    came,
    release() {
      for (const name of names) process.off(name, listener);
    },
  };
}
