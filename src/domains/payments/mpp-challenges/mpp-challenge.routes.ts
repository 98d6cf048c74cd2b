/** Answers the operation on payment challenges: ask the use case, shape the reply. No decision is made here. @module */
import type { Call } from '../../../http/caller.ts';
import type { Handlers, Input, Output } from '../../../http/route.ts';
import type { mppChallengesArea } from './mpp-challenge.contract.ts';

type Operation = (typeof mppChallengesArea)['operations']['handlePaymentChallenge'];

export type MppChallengeDeps = {
  readonly handle: (body: Input<Operation>['body'], call: Call) => Promise<Output<Operation>>;
};

export const mppChallengeHandlers = ({ handle }: MppChallengeDeps): Handlers<typeof mppChallengesArea> => ({
  handlePaymentChallenge: ({ body }, call) => handle(body, call),
});
