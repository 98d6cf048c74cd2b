/** The `data` of the events of a limit. @module */
import * as z from 'zod';
import { count, id, named } from '../fields.ts';

export const limitData = named('LimitEventData', {
  id: z
    .string()
    .regex(/^[a-z][A-Za-z_]{0,79}$/)
    .meta({ description: 'name of the limit' }),
  ownerId: id('owner'),
  limit: count,
  previousLimit: count,
});
