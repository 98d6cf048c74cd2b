/** Builds openapi.json and events.json from the declarations, without starting anything. @module */
import * as z from 'zod';
import { categoryOf, eventCatalog, eventNames, isReserved } from '../events/catalog.ts';
import { openApiOf } from '../http/openapi.ts';
import { publishedAreas } from '../main/modules/index.ts';
import { version } from '../main/version.ts';

export const openApiDocument = (): object =>
  openApiOf(publishedAreas, { version, mode: 'sandbox', serverUrl: 'http://localhost:8400' });

/** Fields may be added to an event at any time: the published schema allows what the stored data must not have. */
const open: z.core.ToJSONSchemaParams['override'] = ({ jsonSchema }) => {
  delete jsonSchema.additionalProperties;
};

export const eventsDocument = (): object =>
  Object.fromEntries(
    eventNames.map((name) => {
      const entry: { extension?: true; data: z.ZodType } = eventCatalog[name];
      const { $schema: _dialect, ...data } = z.toJSONSchema(entry.data, { override: open });
      return [
        name,
        { category: categoryOf(name), reserved: isReserved(name), extension: entry.extension === true, data },
      ];
    }),
  );
