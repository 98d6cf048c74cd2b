/** The ids of entries: the id of their journal and their line in it, so that one index serves both. Pure. @module */
import type { Id } from '../../../kernel/ids.ts';
import { numberedCursor } from '../../../kernel/page.ts';

export type EntryKey = { readonly journalId: string; readonly line: number };

export const entryIdOf = ({ journalId, line }: EntryKey): Id<'entry'> =>
  `le_${journalId.slice('jr_'.length)}${String(line).padStart(2, '0')}`;

/** A page of a statement ends with a version of its account. */
export const statementCursor = numberedCursor('version', 15);

/** Of an id that names a line. */
export const entryIdForm = /^le_([a-z0-9]{8,62})(\d\d)$/;

/** Undefined for an id that names no line; such an entry does not exist. */
export function entryKeyOf(id: string): EntryKey | undefined {
  const [, journal, line] = entryIdForm.exec(id) ?? [];
  return journal === undefined || line === undefined ? undefined : { journalId: `jr_${journal}`, line: Number(line) };
}
