/**
 * The data converter of client, worker and activities. Uses `payloads.ts`; an invalid value is a programming error here
 * and throws a TypeError.
 * @module
 */
import { createPayloadConverter } from './payloads.ts';

export const payloadConverter = createPayloadConverter((why) => new TypeError(why));
