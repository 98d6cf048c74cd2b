/**
 * Cursor pages, newest first. A cursor names the last row seen as `createdAt|id`, opaque to callers; rows inserted
 * meanwhile never shift a page.
 * @module
 */
export type Cursor = { readonly createdAt: string; readonly id: string };
export type PageQuery = { readonly limit: number; readonly after: Cursor | undefined };
export type Page<T> = { readonly data: T[]; readonly hasMore: boolean; readonly nextCursor: string | null };

export const defaultPageSize = 50;
export const maximumPageSize = 100;

/** `rows` must hold up to `limit + 1` rows in page order: the extra one says that there is more. */
export function pageOf<Row, Wire>(
  rows: readonly Row[],
  limit: number,
  cursorOf: (row: Row) => Cursor,
  toWire: (row: Row) => Wire,
): Page<Wire> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = rows.length > limit;
  return {
    data: shown.map(toWire),
    hasMore,
    nextCursor: hasMore && last !== undefined ? encodeCursor(cursorOf(last)) : null,
  };
}

export const encodeCursor = ({ createdAt, id }: Cursor): string =>
  Buffer.from(`${createdAt}|${id}`).toString('base64url');

/** Undefined when the text is not one of our cursors. */
export function decodeCursor(text: string): Cursor | undefined {
  const [createdAt, id, ...rest] = Buffer.from(text, 'base64url').toString().split('|');
  if (createdAt === undefined || id === undefined || rest.length > 0) return undefined;
  if (!/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(createdAt) || Number.isNaN(Date.parse(createdAt))) return undefined;
  return /^[a-z]+_[a-z0-9]+$/.test(id) ? { createdAt, id } : undefined;
}
