/** One event of the catalog as its subscribers see it. @module */
import { categoryOf, isEventName, isExtension, isReserved } from '../../../events/catalog.ts';
import { exampleOf, schemaOf } from '../../../events/example.ts';
import { notFound } from '../../../kernel/errors.ts';
import type { CatalogEventWire } from './webhook.contract.ts';

export function catalogEvent(name: string): CatalogEventWire {
  if (!isEventName(name)) throw notFound('event', name);
  return {
    name,
    category: categoryOf(name),
    reserved: isReserved(name),
    extension: isExtension(name),
    schema: schemaOf(name),
    example: exampleOf(name),
  };
}
