/**
 * The refusal of what a schema does not accept: one sentence for each place, and for an unknown name the known one that
 * is near it.
 * @module
 */
import * as z from 'zod';
import { DomainError } from '../kernel/errors.ts';
import { unwrapped } from './cents-names.ts';
import { nearName } from './near-name.ts';
import { sanitizeForError } from './sanitize-for-error.ts';

const mostSentences = 5;

/**
 * `body.amountEuros: must be …`: the first few places; the first wrong entry of a list stands for the others. `error` is
 * what `schema` says of `value`.
 */
export function invalid(where: string, error: z.ZodError, schema: z.ZodType, value: unknown): DomainError {
  const byPlace = Map.groupBy(error.issues, ({ path }) =>
    JSON.stringify(path.map((part) => (typeof part === 'number' ? 0 : String(part)))),
  );
  const sentences = [...byPlace.values()].slice(0, mostSentences).map((issues) => {
    const issue = issues.find((one) => !isBoundOfDoubles(one)) ?? issues[0];
    return issue === undefined ? '' : `${placeOf(where, issue.path)}: ${sentenceOf(where, issue, schema, value)}`;
  });
  return new DomainError('invalid_request', sentences.join('; '));
}

type Issue = z.core.$ZodIssue;

const placeOf = (where: string, path: readonly PropertyKey[]): string =>
  [where, ...path.map((part) => quoted(String(part)))].join('.');

/** A name of the caller; in quotes where it could be read as a part of the sentence. */
function quoted(name: string): string {
  const safe = sanitizeForError(name);
  return /^[\p{L}\p{N}_$…-]+$/u.test(safe) ? safe : JSON.stringify(safe);
}

/** Every whole number has this bound; where a field has another one, that is the one to name. */
const isBoundOfDoubles = (issue: Issue): boolean =>
  (issue.code === 'too_big' && issue.maximum === Number.MAX_SAFE_INTEGER) ||
  (issue.code === 'too_small' && issue.minimum === Number.MIN_SAFE_INTEGER);

function sentenceOf(where: string, issue: Issue, schema: z.ZodType, value: unknown): string {
  const sentence =
    issue.code === 'unrecognized_keys'
      ? unknownNames(where, issue.keys, namesAt(schema, issue.path, value))
      : issue.message;
  return `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`;
}

/** The unknown names are the caller's own words. */
function unknownNames(where: string, unknown: readonly string[], known: readonly string[]): string {
  const kind = where === 'query' ? 'parameter' : 'field';
  const sentences = unknown.slice(0, mostSentences).map((name) => {
    const near = nearName(name, known);
    return `unknown ${kind} ${quoted(name)}${near === undefined ? '' : `; did you mean ${near}?`}`;
  });
  return sentences.join(', ');
}

/** The names that the object at `path` of `value` may have; none where no single object stands there. */
function namesAt(schema: z.ZodType, path: readonly PropertyKey[], value: unknown): string[] {
  const inner = innermost(schema);
  if (inner instanceof z.ZodDiscriminatedUnion) {
    const { discriminator } = inner.def;
    const given: unknown = Reflect.get(Object(value), discriminator);
    return inner.options
      .map((option) => innermost(option as z.ZodType))
      .filter((option) => option instanceof z.ZodObject)
      .filter(({ shape }) => (shape[discriminator] as z.ZodType).safeParse(given).success)
      .flatMap((option) => namesAt(option, path, value));
  }
  const [step, ...rest] = path;
  const next: unknown = step === undefined ? undefined : Reflect.get(Object(value), step);
  if (inner instanceof z.ZodArray) return step === undefined ? [] : namesAt(inner.element as z.ZodType, rest, next);
  if (!(inner instanceof z.ZodObject)) return [];
  if (step === undefined) return Object.keys(inner.shape);
  const field = inner.shape[String(step)] as z.ZodType | undefined;
  return field === undefined ? [] : namesAt(field, rest, next);
}

/** Without its wrappers, and before it transforms. */
function innermost(schema: z.ZodType): z.ZodType {
  const inner = schema instanceof z.ZodPipe ? (schema.in as z.ZodType) : unwrapped(schema);
  return inner === schema ? schema : innermost(inner);
}
