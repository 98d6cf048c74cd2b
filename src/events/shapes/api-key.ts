/** The `data` of the events of an API key. @module */
import { code, id, named } from '../fields.ts';

export const apiKeyData = named('ApiKeyEventData', { id: id('key'), ownerId: id('owner'), status: code });
