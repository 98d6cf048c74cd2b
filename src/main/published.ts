/** Every area that is served, in the order in which the documentation shows them. @module */
import { keysArea } from '../domains/identity/index.ts';
import { intentsArea } from '../domains/spending/intents/index.ts';
import { policiesArea } from '../domains/spending/policies/index.ts';
import { healthArea } from '../http/health.ts';
import type { Area } from '../http/route.ts';
import { sandboxClockArea } from '../http/sandbox-clock.ts';

export const publishedAreas: readonly Area[] = [healthArea, keysArea, policiesArea, intentsArea, sandboxClockArea];
