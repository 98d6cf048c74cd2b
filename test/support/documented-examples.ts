/** The examples of the published document, by operation id. @module */
import { openApiDocument } from '../../src/dev/documents.ts';

export type Documented = {
  readonly operationId: string;
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly example: unknown }[];
  readonly requestBody?: { readonly content: { readonly 'application/json'?: { readonly example: object } } };
};

const document = JSON.parse(JSON.stringify(openApiDocument())) as {
  readonly paths: Record<string, Record<string, Documented>>;
};

const byId = new Map(
  Object.values(document.paths)
    .flatMap((path) => Object.values(path))
    .map((one) => [one.operationId, one]),
);

export const documented = (operationId: string): Documented | undefined => byId.get(operationId);

export const exampleBodyOf = (operationId: string): object | undefined =>
  documented(operationId)?.requestBody?.content['application/json']?.example;
