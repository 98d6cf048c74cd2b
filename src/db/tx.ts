/** The entity manager that every function of the database takes. @module */
import type { EntityManager } from '@mikro-orm/postgresql';

/** An entity manager; inside `em.transactional` it carries the transaction. */
export type Tx = EntityManager;
