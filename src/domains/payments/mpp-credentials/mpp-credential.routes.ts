/** Answers the operations of MPP credentials: ask the use case, shape the reply. No decision is made here. @module */
import type { Database } from '../../../db/database.ts';
import type { Call } from '../../../http/caller.ts';
import type { Handlers, Input } from '../../../http/route.ts';
import { pageOfQuery } from '../../../http/schemas.ts';
import { mapPage } from '../../../kernel/page.ts';
import type { Expectation } from './credential-expectation.rules.ts';
import type { ConsumedMppCredentialWire, mppCredentialsArea, NewMppCredentialWire } from './mpp-credential.contract.ts';
import { listMppCredentials } from './mpp-credential.queries.ts';
import { mppCredentialWire } from './mpp-credential.wire.ts';

type Operations = (typeof mppCredentialsArea)['operations'];

export type MppCredentialDeps = {
  readonly database: Database;
  /** Throws where nothing was minted, and while that is not known. */
  readonly mint: (order: Input<Operations['mintMppCredential']>['body'], call: Call) => Promise<NewMppCredentialWire>;
  /** For the merchant that calls. */
  readonly consume: (presented: PresentedCredential, call: Call) => Promise<ConsumedMppCredentialWire>;
};

/** How a merchant names a credential that it was given. */
export type NamedCredential = { readonly id: string } | { readonly challengeId: string };

/** And what the merchant expects of it. */
export type PresentedCredential = { readonly named: NamedCredential; readonly expected: Expectation };

type ConsumeBody = Input<Operations['consumeMppCredential']>['body'];

const expectationOf = (body: ConsumeBody): Expectation => ({
  amountCents: body.expectedAmountCents,
  currency: body.expectedCurrency,
  payee: body.expectedPayee,
});

export const mppCredentialHandlers = ({
  database,
  mint,
  consume,
}: MppCredentialDeps): Handlers<typeof mppCredentialsArea> => ({
  mintMppCredential: ({ body }, call) => mint(body, call),

  listMppCredentials: async ({ query: { intentId, status, ...query }, own }) => {
    const now = new Date();
    const found = await listMppCredentials(database.read(), { ...own, intentId, status, now }, pageOfQuery(query));
    return mapPage(found, (row) => mppCredentialWire(row, now));
  },

  consumeMppCredential: ({ params: { id }, body }, call) =>
    consume({ named: { id }, expected: expectationOf(body) }, call),

  consumeMppCredentialByChallenge: ({ params: { challengeId }, body }, call) =>
    consume({ named: { challengeId }, expected: expectationOf(body) }, call),

  getMppCredential: async ({ records: { mppCredential } }) => mppCredentialWire(mppCredential, new Date()),
});
