/**
 * Finds what is served at a path, in as many steps as the path has segments, however many operations there are. A
 * literal segment wins over a parameter; letters of either case and one slash at the end are as good.
 * @module
 */
export type Found<Served> = { readonly served: Served; readonly values: readonly string[] };

type Node<Served> = {
  readonly literals: Map<string, Node<Served>>;
  parameter?: Node<Served>;
  served?: Served;
};

export class Places<Served> {
  readonly #root: Node<Served> = { literals: new Map() };

  /** `{name}` is a parameter, whatever it is called. A path that is served already is not served anew. */
  add(path: string, served: Served): void {
    const end = segmentsOf(path.replace(/\{\w+\}/g, '{}')).reduce<Node<Served>>((node, segment) => {
      if (segment === '{}') {
        node.parameter ??= { literals: new Map() };
        return node.parameter;
      }
      const next = node.literals.get(segment) ?? { literals: new Map() };
      node.literals.set(segment, next);
      return next;
    }, this.#root);
    end.served ??= served;
  }

  /** `values`: of the parameters, in their order, as they stand in the path. */
  find(path: string): Found<Served> | undefined {
    if (!path.startsWith('/')) return undefined; // `OPTIONS *` asks about no path.
    const segments = path.split('/').slice(1);
    if (segments.at(-1) === '') segments.pop();
    return search(this.#root, segments, 0, []);
  }
}

const segmentsOf = (path: string): string[] =>
  path
    .toLowerCase()
    .split('/')
    .filter((segment) => segment !== '');

function search<Served>(
  node: Node<Served>,
  segments: readonly string[],
  at: number,
  values: readonly string[],
): Found<Served> | undefined {
  const segment = segments[at];
  if (segment === undefined) return node.served === undefined ? undefined : { served: node.served, values };
  const literal = node.literals.get(segment.toLowerCase());
  const found = literal === undefined ? undefined : search(literal, segments, at + 1, values);
  if (found !== undefined || node.parameter === undefined || segment === '') return found;
  return search(node.parameter, segments, at + 1, [...values, segment]);
}
