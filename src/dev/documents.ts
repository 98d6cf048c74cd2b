/** Builds openapi.json and events.json from the declarations, without starting anything. @module */
import { categoryOf, eventNames, isExtension, isReserved } from '../events/catalog.ts';
import { schemaOf } from '../events/example.ts';
import { openApiOf } from '../http/openapi.ts';
import { publishedAreas } from '../main/modules/index.ts';
import { version } from '../main/version.ts';

export const openApiDocument = (): object =>
  openApiOf(publishedAreas, { version, mode: 'sandbox', serverUrl: 'http://localhost:8400' });

export const eventsDocument = (): object =>
  Object.fromEntries(
    eventNames.map((name) => [
      name,
      { category: categoryOf(name), reserved: isReserved(name), extension: isExtension(name), data: schemaOf(name) },
    ]),
  );
