/** An id as the edge gives it to a handler, for tests that call a service directly. @module */
import type { ReachedId } from '../../src/http/reaches.ts';
import type { IdKind } from '../../src/kernel/ids.ts';

export const reached = <Kind extends IdKind>(id: string): ReachedId<Kind> => id as ReachedId<Kind>;
