/**
 * The published schema of an event's `data` and an example of it, which test deliveries carry. The example is made from
 * the schema, so that it has every field and is valid; a test parses all of them.
 * @module
 */
import * as z from 'zod';
import { exampleId } from '../kernel/ids.ts';
import { type EventName, eventCatalog } from './catalog.ts';

/** Fields may be added to an event at any time: the published schema allows what the stored data must not have. */
const open: NonNullable<z.core.ToJSONSchemaParams['override']> = ({ jsonSchema }) => {
  delete jsonSchema.additionalProperties;
};

export function schemaOf(name: EventName): Record<string, unknown> {
  const data: z.ZodType = eventCatalog[name].data;
  const { $schema: _dialect, ...schema } = z.toJSONSchema(data, { override: open });
  return schema;
}

export const exampleOf = (name: EventName): Record<string, unknown> =>
  exampleBy(schemaOf(name) as Schema, '') as Record<string, unknown>;

type Schema = z.core.JSONSchema.BaseSchema;

const idForm = /^\^([a-z]+)_\[a-z0-9\]/;

/** The name of a field decides what it holds, where its form leaves that open. */
const byName: Readonly<Record<string, unknown>> = {
  status: 'completed',
  merchant: 'Sandbox Shop',
  currency: 'EUR',
  country: 'DE',
  mcc: '5734',
};

function exampleBy(schema: Schema, field: string): unknown {
  if (schema.examples?.[0] !== undefined) return schema.examples[0];
  if (schema.const !== undefined) return schema.const;
  if (schema.enum?.[0] !== undefined) return schema.enum[0];
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices?.[0] !== undefined) return exampleBy(choices[0] as Schema, field);
  const [type] = [schema.type].flat();
  switch (type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, one]) => [name, exampleBy(one as Schema, name)]),
      );
    case 'array':
      return [exampleBy((schema.items ?? { type: 'string' }) as Schema, field)];
    case 'boolean':
      return true;
    case 'integer':
      return Math.max(1, schema.minimum ?? 1);
    case 'number':
      return 12.5;
    case 'null':
      return null;
    default:
      return textBy(schema, field);
  }
}

function textBy({ pattern, format }: Schema, field: string): string {
  const prefix = idForm.exec(pattern ?? '')?.[1];
  if (prefix !== undefined) return exampleId('event').replace(/^[a-z]+/, prefix);
  if (format === 'date-time') return '2026-11-20T12:00:00.000Z';
  if (format === 'date') return '2026-11-20';
  const form = new RegExp(pattern ?? '');
  const candidates = [
    byName[field],
    'example',
    'EUR',
    'DE',
    '5734',
    '4242',
    'createdAt',
    '*',
    `wallet:${exampleId('wallet')}:available`,
  ];
  return String(candidates.find((one) => one !== undefined && form.test(String(one))) ?? 'example');
}
