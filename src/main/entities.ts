/** Every entity of every domain, for the one ORM of a process. @module */
import type { AnyEntity } from '../db/orm.ts';
import { identityEntities } from '../domains/identity/index.ts';
import { IntentRow } from '../domains/spending/intents/index.ts';

export const entities: readonly AnyEntity[] = [...identityEntities, IntentRow];
