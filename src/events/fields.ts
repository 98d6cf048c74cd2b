/**
 * What the shapes of event data consist of: ids, states, amounts, codes and instants. There is no field for a secret, a
 * link, an IBAN, a name, an address or free text, because events leave the deployment.
 * @module
 */
import * as z from 'zod';
import { type IdKind, idPattern, idPrefixes } from '../kernel/ids.ts';
import { nounOf } from '../kernel/nouns.ts';

export const id = (kind: IdKind) =>
  z
    .string()
    .regex(idPattern(kind))
    .meta({ description: `id of the ${nounOf(kind)}, ${idPrefixes[kind]}_…` });
/** An id that the card network or the merchant made. */
export const outsideId = z.string().max(200);
/** A state or a code: lower case, without spaces, so that no sentence fits. */
export const code = z.string().regex(/^[a-z][a-z0-9_.]{0,79}$/);
export const codes = z.array(code);
/** Names of fields of the wire schema. */
export const fieldNames = z.array(z.string().regex(/^[a-z][A-Za-z0-9]{0,79}$/));
export const euros = z.number().meta({ description: 'euros, at most two decimals' });
export const count = z.int();
export const instant = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  .meta({ format: 'date-time', description: 'ISO 8601, UTC, milliseconds' });
export const date = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d$/)
  .meta({ format: 'date' });
export const mcc = z.string().regex(/^\d{4}$/);
export const country = z.string().regex(/^[A-Z]{2}$/);
export const currency = z.string().regex(/^[A-Z]{3}$/);

/** `id` of every shape is the subject's: events with the same `id` are the ones that X-Service-Sequence sorts. */
export const named = <Fields extends z.ZodRawShape>(name: string, fields: Fields) =>
  z.strictObject(fields).meta({ title: name });

/** Of nouns whose areas add their own fields when they are built. */
export const recordData = (name: string) =>
  named(name, { id: z.string(), ownerId: id('owner'), agentId: id('agent').nullable(), status: code });
