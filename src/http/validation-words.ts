/** Error messages of validation: `is missing`, `must be text`. A message in the schema has precedence. Pure. @module */
import type * as z from 'zod';
import { nearName } from './near-name.ts';

type Issue = z.core.$ZodRawIssue;

/** The sentence for one issue; to be given to the parser, which asks only where the schema has no sentence. */
export function inOurWords(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is missing' : `must be ${kinds[issue.expected] ?? `a ${issue.expected}`}`;
    case 'invalid_value':
      return issue.input === undefined ? 'is missing' : choiceOf(issue.values.map(String), issue.input);
    case 'too_small':
      return boundOf(issue.origin, Number(issue.minimum), issue.inclusive === false ? 'more than' : 'at least');
    case 'too_big':
      return boundOf(issue.origin, Number(issue.maximum), issue.inclusive === false ? 'less than' : 'at most');
    case 'invalid_format':
      return `must be ${formats[issue.format] ?? 'in the published form'}`;
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'invalid_union':
      return unionOf(issue);
    case 'invalid_key':
      return `its name ${issue.issues[0]?.message ?? 'is not accepted'}`;
    default:
      return 'is not accepted here; the documentation at /docs describes it';
  }
}

const kinds: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
  null: 'null',
};

const formats: Readonly<Record<string, string>> = {
  datetime: 'an instant (2026-11-20T12:00:00Z)',
  date: 'a date (2026-11-20)',
  time: 'a time of day (12:00)',
  url: 'an address (https://example.com)',
  email: 'an email address',
};

/** Lengths and numbers of entries are whole, so no bound of theirs is exclusive. */
function boundOf(origin: string, bound: number, words: string): string {
  const is = `${words} ${bound}`;
  if (origin === 'string') return is === 'at least 1' ? 'must not be empty' : `must have ${is} characters`;
  if (origin === 'array' || origin === 'set') return `must have ${is} ${bound === 1 ? 'entry' : 'entries'}`;
  return `must be ${is}`;
}

/** `options`: the values of the field that says which of several shapes is meant. */
function unionOf({ options, input, discriminator }: Extract<Issue, { code: 'invalid_union' }>): string {
  const given: unknown = discriminator === undefined ? input : Reflect.get(Object(input), String(discriminator));
  if (given === undefined) return 'is missing';
  return Array.isArray(options) ? choiceOf(options.map(String), given) : 'has none of the published forms';
}

/** With the value that a misspelt one may have meant. */
function choiceOf(values: readonly string[], given: unknown): string {
  if (values.length === 1) return `must be ${values[0]}`;
  const near = typeof given === 'string' ? nearName(given, values) : undefined;
  return `must be one of ${listed(values)}${near === undefined ? '' : `; did you mean ${near}?`}`;
}

/** A refusal stays short enough to be read. */
const longestList = 1_000;

function listed(values: readonly string[]): string {
  const all = values.join(', ');
  if (all.length <= longestList) return all;
  return `${values.length} values, such as ${values.slice(0, 3).join(', ')}; the documentation at /docs lists them`;
}
