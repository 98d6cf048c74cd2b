/** Clients that pay with mppx: with a card token of their own, or with a service that mints credentials. @module */
import { CompactEncrypt, importJWK } from 'jose';
import { Challenge, Credential } from 'mppx';
import { Mppx } from 'mppx/client';
import { cardCharge } from './card-method.mjs';

export const pay = ({ url, paymentToken, init = {} }) =>
  payWith((challenge) => credentialFor(challenge, paymentToken), url, init);

/**
 * `service`: where, with which headers and for which card a service mints. Without an intent the service declares one
 * for the challenge. Answers also what the service answered.
 */
export async function payByService({ url, service }) {
  const { origin, headers, agentId, cardId } = service;
  const minted = [];
  const ask = async (path, body) => {
    const answer = await fetch(`${origin}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: answer.status, ...(await answer.json()) };
  };
  const createCredential = async (header) => {
    const challenge = Challenge.serialize(header);
    const intentId = service.intentId ?? (await ask('/mpp/handle-402', { agentId, challenge })).intent?.id;
    const { status, id, credential, error } = await ask('/v1/mpp/credentials/mint', { challenge, intentId, cardId });
    minted.push({ status, id, error });
    if (credential === undefined) throw new Error(`nothing was minted: ${error}`);
    return `Payment ${credential}`;
  };
  try {
    return { ...(await payWith(createCredential, url, {})), minted };
  } catch (error) {
    return { error: String(error), minted };
  }
}

async function payWith(createCredential, url, init) {
  const client = Mppx.create({
    polyfill: false,
    methods: [{ ...cardCharge, createCredential: ({ challenge }) => createCredential(challenge) }],
  });
  const answer = await client.fetch(url, init);
  const receipt = answer.headers.get('Payment-Receipt');
  return { status: answer.status, receipt, body: await answer.text() };
}

async function credentialFor(challenge, paymentToken) {
  const { encryptionJwk } = challenge.request.methodDetails;
  const plaintext = {
    token: { paymentToken, tokenExpirationMonth: '12', tokenExpirationYear: '2030', eci: '07' },
    dynamicData: { dynamicDataValue: '', dynamicDataType: 'NONE', dynamicDataExpiration: 1_893_456_000 },
  };
  const encryptedPayload = await new CompactEncrypt(new TextEncoder().encode(JSON.stringify(plaintext)))
    .setProtectedHeader({ alg: 'RSA-OAEP-256', enc: 'A256GCM', kid: encryptionJwk.kid })
    .encrypt(await importJWK(encryptionJwk, 'RSA-OAEP-256'));
  const shown = { panLastFour: '4242', panExpirationMonth: '12', panExpirationYear: '2030' };
  return Credential.serialize({ challenge, payload: { encryptedPayload, network: 'visa', ...shown } });
}
