/**
 * The data converter of client, worker and activities. Decides nothing beyond `payloads.ts`; here an unfit value is a
 * programming error and throws a TypeError.
 * @module
 */
import { createPayloadConverter } from './payloads.ts';

export const payloadConverter = createPayloadConverter((why) => new TypeError(why));
