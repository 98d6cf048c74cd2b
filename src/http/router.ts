/**
 * Finds the operation at a path, with find-my-way. A literal segment has precedence over a parameter. Paths are
 * case-insensitive, and one trailing slash is ignored.
 * @module
 */
import findMyWay from 'find-my-way';

export type Found<Served> = { readonly served: Served; readonly values: readonly string[] };

export class Router<Served> {
  readonly #routes = findMyWay({
    caseSensitive: false,
    ignoreTrailingSlash: true,
    maxParamLength: Number.MAX_SAFE_INTEGER, // The contract limits a value, and answers 400 instead of 404.
  });
  readonly #served = new Map<() => void, Served>();

  /** `{name}` is a parameter; its name does not matter. The first addition at a path stays. */
  add(path: string, served: Served): void {
    let parameters = 0;
    const pattern = path.toLowerCase().replace(/\{\w*\}/g, () => `:${parameters++}`);
    if (this.#routes.hasRoute('GET', pattern)) return;
    const handler = (): void => undefined;
    this.#served.set(handler, served);
    // All methods share one tree, so that a literal path with another method answers 405 before a parameter matches.
    this.#routes.on('GET', pattern, handler);
  }

  /** `values` are the parameters in their order, with their percent escapes. */
  find(path: string): Found<Served> | undefined {
    // `OPTIONS *` has no path, and no parameter is empty.
    if (!path.startsWith('/') || path.includes('//')) return undefined;
    // An escaped percent sign is the only escape that the library then decodes: the edge refuses broken escapes itself.
    const route = this.#routes.find('GET', path.replaceAll('%', '%25'));
    const served = route === null ? undefined : this.#served.get(route.handler as () => void);
    if (route === null || served === undefined) return undefined;
    const values = Object.values(route.params).map((value = '') => value);
    return values.includes('') ? undefined : { served, values };
  }
}
