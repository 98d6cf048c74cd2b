/** Bodies that differ from a valid one in a single place, as callers get them wrong. @module */
import * as fc from 'fast-check';

type Path = readonly (string | number)[];

export type Mutated = {
  readonly body: unknown;
  /** Where it differs: the place of a value, or of an object with an unknown or a missing field. */
  readonly path: Path;
  /** The unknown or missing field. */
  readonly field?: string;
  /** The name that `field` was before a letter was left out. */
  readonly meant?: string;
};

const long = fc.constantFrom('y'.repeat(40_000), 'many short words '.repeat(2_000), '\u{1f600}'.repeat(8_000));

/** A value of any type, empty, deep or huge. */
const anyValue: fc.Arbitrary<unknown> = fc.oneof(
  {
    arbitrary: fc.constantFrom<unknown>(null, true, 0, -1, 7, 1.005, 1e21, '', ' ', 'x', [], {}, [null], [[]], '7'),
    weight: 6,
  },
  { arbitrary: fc.jsonValue({ maxDepth: 3 }), weight: 4 },
  { arbitrary: long, weight: 1 },
  { arbitrary: fc.constant(Array(3_000).fill('x')), weight: 1 },
);

/** `example` with one value replaced, one field left out, one misspelt, or one added. */
export function mutated(example: object): fc.Arbitrary<Mutated> {
  const paths = pathsIn(example);
  const objects = paths.filter((path) => isObject(at(example, path)));
  const fields = objects.flatMap((path) => Object.keys(Object(at(example, path))).map((field) => ({ path, field })));
  const replaced = fc
    .tuple(fc.constantFrom(...paths), anyValue)
    .map(([path, value]) => ({ body: withValue(example, path, () => value), path }));
  const misspeltValue = fc
    .constantFrom(...paths)
    .map((path) => ({ body: withValue(example, path, (old) => (typeof old === 'string' ? `${old}x` : [old])), path }));
  const added = fc
    .tuple(fc.constantFrom(...objects), fc.oneof(fc.string({ unit: 'grapheme' }), long), anyValue)
    .map(([path, field, value]) => ({ body: withField(example, path, field, value), path, field }));
  if (fields.length === 0) return fc.oneof(replaced, misspeltValue, added);
  const missing = fc
    .constantFrom(...fields)
    .map(({ path, field }) => ({ body: withoutField(example, path, field), path, field }));
  const misspeltName = fc
    .tuple(fc.constantFrom(...fields), fc.nat())
    .map(([{ path, field: meant }, position]) => ({ path, meant, field: misspelt(meant, position) }))
    .map((one) => ({ body: withField(example, one.path, one.field, 1), ...one }));
  return fc.oneof(replaced, misspeltValue, added, missing, misspeltName);
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

const at = (value: unknown, path: Path): unknown => path.reduce<unknown>((inner, step) => Object(inner)[step], value);

function pathsIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([step, inner]) => pathsIn(inner, [...path, step]))];
}

function withValue(value: unknown, [step, ...rest]: Path, change: (old: unknown) => unknown): unknown {
  if (step === undefined) return change(value);
  const inner = withValue(Object(value)[step], rest, change);
  return Array.isArray(value) ? value.with(Number(step), inner) : { ...Object(value), [step]: inner };
}

const withField = (example: object, path: Path, field: string, value: unknown): unknown =>
  withValue(example, path, (old) => Object.fromEntries([...Object.entries(Object(old)), [field, value]]));

const withoutField = (example: object, path: Path, field: string): unknown =>
  withValue(example, path, (old) => Object.fromEntries(Object.entries(Object(old)).filter(([name]) => name !== field)));

/** One letter is left out. */
const misspelt = (name: string, position: number): string =>
  name.replace(name.charAt(position % name.length), '') || `${name}${name}`;
