/** Prints the demo's numbered steps and, indented, the facts of each step, in lines of at most 80 columns; ids are dimmed. @module */
import { styleText } from 'node:util';
import { wrapped } from '../cli/output.ts';

export type Reporter = {
  step(title: string): void;
  /** A part without a number. */
  section(title: string): void;
  say(sentence: string): void;
  /** A line to be copied as it stands. */
  print(line: string): void;
};

const columns = 80;
const indent = ' '.repeat(8);

export function createReporter(write: (line: string) => void, steps: number): Reporter {
  let step = 0;
  return {
    step: (title) => {
      step += 1;
      write(`\n${step} of ${steps}  ${title}`);
    },
    section: (title) => write(`\n${title}`),
    say: (sentence) => {
      const [first = '', ...rest] = wrapped(sentence, columns - indent.length - 2);
      for (const line of [first, ...rest.map((next) => `  ${next}`)]) write(`${indent}${dimmed(line)}`);
    },
    print: (line) => write(`${indent}${line}`),
  };
}

/** On a terminal only: styleText looks at stdout itself. */
const dimmed = (line: string): string => line.replace(/\b[a-z]{2,5}_[a-z0-9]{20,}\b/g, (id) => styleText('dim', id));

export const euros = (amount: number): string => `${amount.toFixed(2)} EUR`;
