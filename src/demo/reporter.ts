/** What the demo prints: numbered steps, indented facts, plain words. @module */
export type Paper = {
  step(title: string): void;
  say(sentence: string): void;
};

export function createPaper(write: (line: string) => void, steps: number): Paper {
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
