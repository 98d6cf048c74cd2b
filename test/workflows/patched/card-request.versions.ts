/**
 * A change of a released workflow that needs `patched()`, in its versions: card requests, with a smaller view, get a step
 * before a person is asked. Each export is the workflow of one version (`docs/releasing.md`).
 * @module
 */
import { deprecatePatch, patched } from '@temporalio/workflow';
import type { CardRequestDue, CardRequestFact } from '../../../src/domains/cards/card-requests/card-request.rules.ts';
import type { Decision } from '../../../src/domains/identity/approvals/decision.messages.ts';
import type { RowState } from '../../../src/kernel/row-state.ts';
import { type FollowedRun, followRow, type Process, type RunInput } from '../../../workflows/lib/follow-row.ts';
import { databaseSteps, outboundSteps } from '../../../workflows/lib/steps.ts';

export type RequestView = { readonly status: string };
type Fact = CardRequestFact | 'screened';
export type RequestState = RowState<RequestView, Fact, CardRequestDue>;
export type RequestActivities = {
  readRequest(id: string): Promise<RequestState>;
  decideRequest(id: string, decision: Decision): Promise<RequestState>;
  remindOfRequest(id: string): Promise<RequestState>;
  expireRequest(id: string): Promise<RequestState>;
  screenRequest(id: string): Promise<RequestState>;
};

const { readRequest, decideRequest, remindOfRequest, expireRequest } = databaseSteps<RequestActivities>()({
  readRequest: 'Reading the card request',
  decideRequest: 'Carrying out the decision',
  remindOfRequest: 'Reminding the owner that the request waits',
  expireRequest: 'Expiring the request at its deadline',
});
const { screenRequest } = outboundSteps<RequestActivities>()({
  screenRequest: 'Asking the card processor whether it would issue the card',
});

const requestRun: FollowedRun<RequestView, Fact, CardRequestDue> = {
  refresh: readRequest,
  stage: ({ status }) => status,
  describe: () => 'A new card',
  waitingFor: {
    screened: 'Asking the card processor.',
    reminded: 'Waiting for a person.',
    decided: 'Waiting for a person.',
  },
  outcome: ({ status }) => status,
  decide: { carryOut: decideRequest, refuse: () => undefined },
};

const change = 'card-requests-are-screened';

type Steps = Process<RequestView, Fact, CardRequestDue>;
const screen = ({ step }: Steps): Promise<void> => step('screened', screenRequest);
const untilDecided = async ({ wait }: Steps): Promise<void> => {
  await wait('reminded', { reminder: remindOfRequest, deadline: expireRequest });
  await wait('decided', { deadline: expireRequest });
};

/** The released version. */
export const released = (input: RunInput): Promise<RequestView> => followRow(requestRun, input, untilDecided);

/** The change alone: runs under way cannot continue. It is also the last version, when no marker is left in a history. */
export const changed = (input: RunInput): Promise<RequestView> =>
  followRow(requestRun, input, async (steps) => {
    await screen(steps);
    await untilDecided(steps);
  });

/** The version to release: what began before goes the old way to its end. `patched()` comes before everything else. */
export const guarded = async (input: RunInput): Promise<RequestView> => {
  const isNew = patched(change);
  return followRow(requestRun, input, async (steps) => {
    if (isNew) await screen(steps);
    await untilDecided(steps);
  });
};

/** When no run is left that the released version began: the old way is gone, and markers of `guarded` are accepted. */
export const unguarded = async (input: RunInput): Promise<RequestView> => {
  deprecatePatch(change);
  return changed(input);
};
