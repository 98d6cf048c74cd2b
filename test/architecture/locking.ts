/**
 * Finds who passes an id to a read that locks. Works on the source text, in the layout that the formatter gives it: every
 * top-level declaration starts in the first column.
 * @module
 */
import { dirname, join, normalize } from 'node:path';

export type Source = { readonly path: string; readonly text: string };

type Declaration = {
  readonly path: string;
  readonly name: string;
  readonly isType: boolean;
  readonly isExported: boolean;
  /** Up to the body: name, parameters and their types. */
  readonly signature: string;
  readonly text: string;
};

const start = /^(?=(?:export )?(?:async )?(?:function|const|type|class) \w)/m;
const head = /^(export )?(?:async )?(function|const|type|class) (\w+)/;
/** Work that is taken from a queue by its state (`skip locked`) names no row. */
const locks =
  /PESSIMISTIC_WRITE|forUpdate\(\)|forShare\(\)|\bfor (?:no key )?(?:update|share)\b(?!(?: of \w+)? skip locked)/;
/** A read that locks only when its caller asks for it. */
const locksOnDemand = /lock: '' \| 'for (?:share|update)'/;

const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$|^import[^;]*;/gm, '');

const declarationsIn = ({ path, text }: Source): Declaration[] =>
  withoutComments(text)
    .split(start)
    .flatMap((part) => {
      const [, exported, kind, name] = head.exec(part) ?? [];
      if (name === undefined) return [];
      const isType = kind === 'type';
      const [before = ''] = isType ? [part] : part.split(/ =>(?!\s*(?:async )?\()|\): [^\n]*\{\n|\) \{\n/);
      return [{ path, name, isType, isExported: exported !== undefined, signature: before, text: part }];
    });

const mentions = (text: string, name: string): boolean => new RegExp(String.raw`(?<![.\w])${name}\b`).test(text);

/** Each name that a file imports, with the file that it comes from; through an `index.ts` any file below it. */
function importsOf({ path, text }: Source): Map<string, string> {
  const found = new Map<string, string>();
  for (const [, list = '', from = ''] of text.matchAll(/import (?:type )?\{([^}]*)\} from '(\.[^']+)'/g)) {
    const target = normalize(join(dirname(path), from)).replace(/index\.ts$/, '');
    for (const [, name = ''] of list.matchAll(/(?:^|,)\s*(?:type )?(\w+)/g)) found.set(name, target);
  }
  return found;
}

const isService = ({ path }: Declaration): boolean => /\.(?:service|queries)\.ts$/.test(path);
/** Services, and helpers of a use case: the declarations that call them answer for the id. */
const passesOn = (one: Declaration): boolean => isService(one) || !one.isExported || one.name.startsWith('lock');

function callsIn(one: Declaration, locker: Declaration): boolean {
  const called = new RegExp(String.raw`(?<![.\w])${locker.name}(?:\(|\.\w+\()([^;]*)`, 'g');
  const found = [...one.text.matchAll(called)];
  if (!locksOnDemand.test(locker.signature)) return found.length > 0;
  return found.some(([, rest = '']) => /'for (?:share|update)'/.test(rest));
}

/**
 * `<file> <declaration>` of each use case and handler that passes an id to a locking read, at any depth of
 * services, and takes no checked id itself.
 */
export function uncheckedLocks(sources: readonly Source[]): string[] {
  const all = sources.flatMap(declarationsIn);
  const types = all.filter(({ isType, name }) => isType && !/(?:Deps|Writes)$/.test(name));
  const imports = new Map(sources.map((source) => [source.path, importsOf(source)]));
  const named = ({ path, name }: Declaration): string => `${path} ${name}`;
  const sees = (one: Declaration, other: Declaration): boolean =>
    one.path === other.path ||
    (other.isExported && other.path.startsWith(imports.get(one.path)?.get(other.name) ?? '-'));
  /** Directly, or through a type that it sees. The dependencies of a function are no parameters of a call. */
  const takesCheckedId = (one: Declaration, seen: readonly Declaration[] = []): boolean =>
    one.signature.includes('ReachedId<') ||
    types.some(
      (type) =>
        !seen.includes(type) &&
        type !== one &&
        mentions(one.signature, type.name) &&
        sees(one, type) &&
        takesCheckedId(type, [...seen, one]),
    );
  const open = all.filter((one) => !one.isType && !takesCheckedId(one));
  const passing = new Set(open.filter((one) => locks.test(one.text)));
  let latest = [...passing];
  while (latest.length > 0) {
    const lockers = latest.filter(passesOn);
    latest = open.filter(
      (one) => !passing.has(one) && lockers.some((locker) => sees(one, locker) && callsIn(one, locker)),
    );
    for (const one of latest) passing.add(one);
  }
  return [...passing]
    .filter((one) => !passesOn(one))
    .map(named)
    .toSorted();
}
