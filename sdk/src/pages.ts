/**
 * A list that is read page by page: `await` gives one page, `for await` every item. The first page is requested when
 * somebody asks for it, and once.
 * @module
 */
export type Page<Item> = {
  readonly data: readonly Item[];
  readonly hasMore: boolean;
  readonly nextCursor: string | null;
};

export type PageItem<P> = P extends { readonly data: readonly (infer Item)[] } ? Item : never;

export class Pages<P extends Page<PageItem<P>>> implements Promise<P>, AsyncIterable<PageItem<P>> {
  readonly [Symbol.toStringTag] = 'Pages';
  readonly #read: (cursor: string | undefined) => Promise<P>;
  #first: Promise<P> | undefined;

  constructor(read: (cursor: string | undefined) => Promise<P>) {
    this.#read = read;
  }

  #page(): Promise<P> {
    this.#first ??= this.#read(undefined);
    return this.#first;
  }

  // biome-ignore lint/suspicious/noThenProperty: a list is awaited for its first page
  get then(): Promise<P>['then'] {
    return (onPage, onError) => this.#page().then(onPage, onError);
  }

  get catch(): Promise<P>['catch'] {
    return (onError) => this.#page().catch(onError);
  }

  finally(onEnd?: (() => void) | null): Promise<P> {
    return this.#page().finally(onEnd);
  }

  /** Page after page. */
  async *pages(): AsyncGenerator<P, void, undefined> {
    let page = await this.#page();
    yield page;
    const seen = new Set<string>();
    while (page.nextCursor !== null) {
      if (seen.has(page.nextCursor)) throw new Error('the list repeats a cursor, so it would never end');
      seen.add(page.nextCursor);
      page = await this.#read(page.nextCursor);
      yield page;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<PageItem<P>, void, undefined> {
    for await (const page of this.pages()) yield* page.data;
  }

  /** The items of all pages; `limit` bounds how many, because a list may be long. */
  async toArray({ limit }: { limit: number }): Promise<PageItem<P>[]> {
    const items: PageItem<P>[] = [];
    if (limit <= 0) return items;
    for await (const item of this) {
      items.push(item);
      if (items.length >= limit) break;
    }
    return items;
  }
}
