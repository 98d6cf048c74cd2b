/**
 * The current details that an operator reads at the top of a run: one sentence on what it waits for, and notes on
 * ignored input.
 * @module
 */
import { setCurrentDetails } from '@temporalio/workflow';

export type Details = {
  /** Replaces the sentence about the present. */
  say(sentence: string): void;
  /** Adds a note about something that was refused or could not be read; the last few are kept. */
  note(sentence: string): void;
};

const maxNotes = 5;

export function currentDetails(first: string): Details {
  let present = first;
  const notes: string[] = [];
  // The Web UI reads it as Markdown: a separate line needs an empty line before it.
  const show = (): void => {
    const list = notes.map((note) => `- ${note}`).join('\n');
    setCurrentDetails([...present.split('\n'), list].filter((part) => part !== '').join('\n\n'));
  };
  show();
  return {
    say: (sentence) => {
      present = sentence;
      show();
    },
    note: (sentence) => {
      notes.push(sentence);
      if (notes.length > maxNotes) notes.shift();
      show();
    },
  };
}
