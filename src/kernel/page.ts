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
export function pageOf<Row>(rows: readonly Row[], limit: number, cursorOf: (row: Row) => Cursor): Page<Row> {
  const data = rows.slice(0, limit);
  const last = data.at(-1);
  const hasMore = rows.length > limit;
  return { data, hasMore, nextCursor: hasMore && last !== undefined ? encodeCursor(cursorOf(last)) : null };
}

/** The same page, each row in another shape. */
export const mapPage = <Row, Wire>({ data, ...page }: Page<Row>, toWire: (row: Row) => Wire): Page<Wire> => ({
  data: data.map((row) => toWire(row)),
  ...page,
});

export const encodeCursor = ({ createdAt, id }: Cursor): string =>
  Buffer.from(`${createdAt}|${id}`).toString('base64url');

/**
 * Undefined when the text is not a cursor that `encodeCursor` made with an id of the form `idForm`: it must encode to
 * the same text again, and its instant must be one that the calendar and PostgreSQL know.
 */
export function decodeCursor(text: string, idForm: RegExp): Cursor | undefined {
  const [createdAt = '', id = '', ...rest] = Buffer.from(text, 'base64url').toString().split('|');
  if (rest.length > 0 || !isInstant(createdAt) || !idForm.test(id)) return undefined;
  const cursor = { createdAt, id };
  return encodeCursor(cursor) === text ? cursor : undefined;
}

/** For rows that a number names: how it stands in a cursor where records have their id. At most `digits` digits. */
export const numberedCursor = (noun: string, digits: number) => {
  const form = new RegExp(`^${noun}_(\\d{1,${digits}})$`);
  return {
    form,
    idOf: (number: number): string => `${noun}_${number}`,
    /** Of an id of that form. */
    numberOf: (id: string): number => Number(form.exec(id)?.[1]),
  };
};

/** In exactly the form of `toISOString`, from the year 1 to the year 9999. */
function isInstant(text: string): boolean {
  if (!/^\d{4}-/.test(text) || text.startsWith('0000')) return false;
  const at = new Date(text);
  return !Number.isNaN(at.getTime()) && at.toISOString() === text;
}
