/** Every entity of every domain, for the one ORM of a process. @module */
import type { AnyEntity } from '../db/orm.ts';
import { CardRow } from '../domains/cards/index.ts';
import { deliveryEntities } from '../domains/delivery/index.ts';
import { identityEntities } from '../domains/identity/index.ts';
import { partiesEntities } from '../domains/parties/index.ts';
import { paymentsEntities } from '../domains/payments/index.ts';
import { EvidenceRow } from '../domains/spending/evidence/index.ts';
import { IntentRow } from '../domains/spending/intents/index.ts';
import { PolicyRow } from '../domains/spending/policies/index.ts';
import { treasuryEntities } from '../domains/treasury/index.ts';

export const entities: readonly AnyEntity[] = [
  ...identityEntities,
  ...partiesEntities,
  ...treasuryEntities,
  PolicyRow,
  IntentRow,
  EvidenceRow,
  CardRow,
  ...paymentsEntities,
  ...deliveryEntities,
];
