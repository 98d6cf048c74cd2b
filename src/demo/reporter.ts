/** Prints the demo's numbered steps and, indented, the facts of each step. @module */
export type Reporter = {
  step(title: string): void;
  say(sentence: string): void;
};

export function createReporter(write: (line: string) => void, steps: number): Reporter {
  let step = 0;
  return {
    step: (title) => {
      step += 1;
      write(`\n${step} of ${steps}  ${title}`);
    },
    say: (sentence) => write(`        ${sentence}`),
  };
}

export const euros = (amount: number): string => `${amount.toFixed(2)} EUR`;
