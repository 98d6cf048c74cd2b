/** The search attributes by which operators filter workflow runs, from temporal-config. @module */
import { readFileSync } from 'node:fs';

/** Type by name. The same file is used where another team runs the Temporal server. */
export function filterAttributes(): Record<string, string> {
  const file = new URL('../../temporal-config/search-attributes.json', import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
}

/** Refused by a namespace without the attribute, whatever its type. */
export const probeOf = (name: string): string => `${name} is null`;
