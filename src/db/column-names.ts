/**
 * Translates the property names of a typed query into column names (`agentId` into `agent_id`). What the outermost
 * query returns keeps its property name by an alias, so no row has to be renamed afterwards.
 * @module
 */
import {
  AliasNode,
  ColumnNode,
  IdentifierNode,
  type KyselyPlugin,
  type OperationNode,
  OperationNodeTransformer,
  type QueryId,
  ReferenceNode,
  type SelectionNode,
} from 'kysely';

const known = new Map<string, string>();

/** As MikroORM's naming strategy does it; a test compares the two for every entity. */
export function columnNameOf(property: string): string {
  const column = known.get(property) ?? property.replace(/(?<=[a-z0-9])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  known.set(property, column);
  return column;
}

class ColumnNames extends OperationNodeTransformer {
  protected override transformIdentifier(node: IdentifierNode, queryId: QueryId): IdentifierNode {
    return { ...super.transformIdentifier(node, queryId), name: columnNameOf(node.name) };
  }

  protected override transformSelection(node: SelectionNode, queryId: QueryId): SelectionNode {
    const transformed = super.transformSelection(node, queryId);
    const name = this.#isOutermost() ? returnedName(node.selection) : undefined;
    if (name === undefined || name === columnNameOf(name)) return transformed;
    const { selection } = transformed;
    const value = AliasNode.is(selection) ? selection.node : selection;
    return { ...transformed, selection: AliasNode.create(value, IdentifierNode.create(name)) as never };
  }

  /** Of the whole statement: a subquery's names are only read by the queries around it. */
  #isOutermost(): boolean {
    const [, second, third] = this.nodeStack;
    return second?.kind === 'SelectionNode' || (second?.kind === 'ReturningNode' && third?.kind === 'SelectionNode');
  }
}

function returnedName(selection: OperationNode): string | undefined {
  if (AliasNode.is(selection)) return IdentifierNode.is(selection.alias) ? selection.alias.name : undefined;
  if (ReferenceNode.is(selection)) return returnedName(selection.column);
  if (ColumnNode.is(selection)) return selection.column.name;
  throw new Error(`${selection.kind} has no name: select columns by name`);
}

export const columnNames: KyselyPlugin = {
  transformQuery: ({ node, queryId }) => new ColumnNames().transformNode(node, queryId),
  transformResult: async ({ result }) => result,
};

/** A row's values under the names of its columns, for a statement that takes them as JSON. */
export const columnsOfRow = (row: object): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [columnNameOf(name), value]));
