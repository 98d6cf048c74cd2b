/** Reads of signing keys: the published halves, and the sealed key that signs. No decision is made here. @module */
import { type Given, query } from '../../../db/db.ts';
import type { Tx } from '../../../db/tx.ts';
import type { KeyPurpose } from './signing-key.rules.ts';

export type PublicJwk = {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  readonly kid: string;
  readonly use: 'sig';
  /** Of JOSE. An agent's key signs HTTP messages, whose algorithms have names of their own. */
  readonly alg?: 'EdDSA';
};

const jwkOf = ({ kid, publicX }: { readonly kid: string; readonly publicX: string }): PublicJwk => ({
  kty: 'OKP',
  crv: 'Ed25519',
  x: publicX,
  kid,
  use: 'sig',
});

const joseJwkOf = (key: Parameters<typeof jwkOf>[0]): PublicJwk => ({ ...jwkOf(key), alg: 'EdDSA' });

/** Times of keys are real. */
type AsOf = { readonly now: Date };

const ofService = query((from, given: Given<AsOf>) =>
  from
    .selectFrom('signing_keys')
    .select(['kid', 'publicX'])
    .where((eb) => eb('purpose', '<>', eb.val<KeyPurpose>('agent')))
    .where((eb) => eb.or([eb('endsAt', 'is', null), eb('endsAt', '>', given('now'))]))
    .orderBy('activeFrom', 'desc')
    .orderBy('kid'),
);

/** Every key of the service, newest first: those that sign, those to come, and those that signed before. */
export const serviceJwks = async (tx: Tx, now: Date = new Date()): Promise<PublicJwk[]> =>
  (await ofService.all(tx, { now })).map(joseJwkOf);

const publishedOfAgent = query((from, given: Given<AsOf & { agentId: string }>) =>
  from
    .selectFrom('signing_keys')
    .select(['kid', 'publicX'])
    .where('agentId', '=', given('agentId'))
    .where((eb) => eb('purpose', '=', eb.val<KeyPurpose>('agent')))
    .where((eb) => eb.or([eb('endsAt', 'is', null), eb('endsAt', '>', given('now'))]))
    .orderBy('createdAt', 'desc')
    .orderBy('kid'),
);

/** Newest first: the one that signs, and after a rotation those that signed before, for a while. */
export const agentJwks = async (tx: Tx, agentId: string, now: Date = new Date()): Promise<PublicJwk[]> =>
  (await publishedOfAgent.all(tx, { agentId, now })).map(jwkOf);

const ofAgent = query((from, given: Given<{ agentId: string }>) =>
  from
    .selectFrom('signing_keys')
    .select(['kid', 'sealedPrivateKey'])
    .where('agentId', '=', given('agentId'))
    .where('endsAt', 'is', null)
    .where((eb) => eb('purpose', '=', eb.val<KeyPurpose>('agent'))),
);

export type SealedKey = { readonly kid: string; readonly sealedPrivateKey: string | null };

/** The key with which the agent signs. */
export const sealedKeyOfAgent = (tx: Tx, agentId: string): Promise<SealedKey | null> => ofAgent.first(tx, { agentId });

const withPrivateKeys = query((from) =>
  from
    .selectFrom('signing_keys')
    .select(['kid', 'sealedPrivateKey', 'activeFrom'])
    .where('endsAt', 'is', null)
    .where((eb) => eb('purpose', '=', eb.val<KeyPurpose>('service'))),
);

/** Without those that were revoked. */
export const sealedServiceKeys = (tx: Tx): Promise<(SealedKey & { readonly activeFrom: Date })[]> =>
  withPrivateKeys.all(tx, {});

const ofReceiptsAndTokens = query((from, given: Given<{ kid: string }>) =>
  from
    .selectFrom('signing_keys')
    .select(['kid', 'publicX', 'endsAt'])
    .where('kid', '=', given('kid'))
    .where((eb) => eb('purpose', '=', eb.val<KeyPurpose>('service'))),
);

/** The key of receipts and tokens with that `kid`, also a revoked one. Other keys of the set verify neither. */
export async function serviceJwk(
  tx: Tx,
  kid: string,
): Promise<{ readonly jwk: PublicJwk; readonly revokedAt: Date | null } | undefined> {
  const key = await ofReceiptsAndTokens.first(tx, { kid });
  return key === null ? undefined : { jwk: joseJwkOf(key), revokedAt: key.endsAt ?? null };
}

const named = query((from, given: Given<{ kid: string }>) =>
  from.selectFrom('signing_keys').select(['kid', 'purpose', 'agentId', 'endsAt']).where('kid', '=', given('kid')),
);

/** A key of any purpose. */
export const keyNamed = (tx: Tx, kid: string) => named.first(tx, { kid });

const ofCheckpoints = query((from) =>
  from
    .selectFrom('signing_keys')
    .select('kid')
    .where((eb) => eb('purpose', '=', eb.val<KeyPurpose>('checkpoint')))
    .orderBy('activeFrom', 'desc')
    .orderBy('createdAt', 'desc'),
);

/** The key that the sealer published last, so the one with which it signs. */
export const newestCheckpointKid = async (tx: Tx): Promise<string | undefined> =>
  (await ofCheckpoints.first(tx, {}))?.kid;
