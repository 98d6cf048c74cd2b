/**
 * Admits a request: authenticates the caller, counts it by its client address, and audits every use of the dashboard's
 * secret before the operation runs.
 * @module
 */
import type { Request } from 'express';
import { type Id, isId } from '../kernel/ids.ts';
import type { Clock } from '../platform/clock.ts';
import { assertMayCall, type Credentials, identify } from './authenticate.ts';
import type { Caller } from './caller.ts';
import type { ClientAddress } from './client-address.ts';
import type { Operation } from './route.ts';

export type AdmitDeps = {
  readonly credentials: Credentials;
  readonly clientOf: ClientAddress;
  /** A use that cannot be written down does not happen. */
  readonly onDashboardUse: (use: DashboardUse) => Promise<void>;
  readonly clock: Clock;
};

export type DashboardUse = {
  readonly operation: string;
  /** Undefined: of the whole deployment, such as its clock. */
  readonly ownerId: Id<'owner'> | undefined;
  readonly requestId: string;
  readonly sourceAddress: string;
  readonly at: Date;
};

type Admission = {
  readonly name: string;
  readonly operation: Operation;
  readonly request: Request;
  readonly requestId: string;
  /** Is given the caller as soon as it is known, also where the call is then refused. */
  readonly onIdentified: (caller: Caller) => void;
};

/** Whether the credential of a request still admits it. Its use was written down when it came. */
export async function admitAgain(
  operation: Operation,
  request: Request,
  { clientOf, credentials }: Pick<AdmitDeps, 'credentials' | 'clientOf'>,
): Promise<void> {
  const asked = { headers: request.headers, client: clientOf(request) };
  assertMayCall(operation, await identify(operation, asked, credentials));
}

export async function admit(
  { name, operation, request, requestId, onIdentified }: Admission,
  deps: AdmitDeps,
): Promise<Caller> {
  const client = deps.clientOf(request);
  const caller = await identify(operation, { headers: request.headers, client }, deps.credentials);
  onIdentified(caller);
  assertMayCall(operation, caller);
  if (caller.kind !== 'dashboard') return caller;
  const { ownerId: named } = request.query;
  const ownerId = caller.ownerId ?? (typeof named === 'string' && isId('owner', named) ? named : undefined);
  // A read that names no owner shows no owner's records; the sandbox reads the clock all the time.
  if (operation.method === 'get' && ownerId === undefined) return caller;
  await deps.onDashboardUse({ operation: name, ownerId, requestId, sourceAddress: client, at: await deps.clock.now() });
  return caller;
}
