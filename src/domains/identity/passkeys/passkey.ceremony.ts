/**
 * The cryptographic part of WebAuthn: options for the browser, and the verification of its answer. Reads no table and
 * no clock, and never fetches an address of a certificate.
 * @module
 */
import {
  type AuthenticationResponseJSON,
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import { decodeAttestationObject, isoBase64URL } from '@simplewebauthn/server/helpers';
import type { WebauthnAnswer } from '../../../http/webauthn.ts';
import { DomainError } from '../../../kernel/errors.ts';
import { challengeMs, whyNot } from './passkey.rules.ts';
import type { RelyingParty } from './relying-party.ts';

export type CreationOptions = PublicKeyCredentialCreationOptionsJSON;
export type RequestOptions = PublicKeyCredentialRequestOptionsJSON;

export type Enrolled = {
  readonly credentialId: string;
  readonly publicKey: Uint8Array;
  readonly counter: number;
  readonly transports: readonly string[];
};
export type Attested = Enrolled & { readonly backedUp: boolean };

/** ES256, EdDSA, RS256. */
const algorithms = [-7, -8, -257];

type Named = Pick<Enrolled, 'credentialId' | 'transports'>;

export function creationOptions(
  { rpId }: RelyingParty,
  challenge: string,
  wanted: { readonly ownerId: string; readonly name: string; readonly enrolled: readonly Named[] },
): Promise<CreationOptions> {
  return generateRegistrationOptions({
    rpName: 'Bursar',
    rpID: rpId,
    userID: isoBase64URL.toBuffer(Buffer.from(wanted.ownerId).toString('base64url')),
    userName: wanted.name,
    userDisplayName: wanted.name,
    challenge: isoBase64URL.toBuffer(challenge),
    timeout: challengeMs,
    attestationType: 'none',
    excludeCredentials: wanted.enrolled.map(descriptorOf),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
    supportedAlgorithmIDs: algorithms,
  });
}

export const requestOptions = (
  { rpId }: RelyingParty,
  challenge: string,
  enrolled: readonly Named[],
): Promise<RequestOptions> =>
  generateAuthenticationOptions({
    rpID: rpId,
    challenge: isoBase64URL.toBuffer(challenge),
    timeout: challengeMs,
    userVerification: 'required',
    allowCredentials: enrolled.map(descriptorOf),
  });

export async function verifyCreation(
  party: RelyingParty,
  challenge: string,
  answer: WebauthnAnswer,
): Promise<Attested> {
  return explained('attestation', party, async () => {
    refuseForeignFrame(answer);
    refuseMakersAttestation(answer);
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: answer as unknown as RegistrationResponseJSON,
      ...demands(party, challenge),
      supportedAlgorithmIDs: algorithms,
    });
    if (!verified || registrationInfo === undefined) throw new Error('not verified');
    const { credential, credentialBackedUp } = registrationInfo;
    return {
      credentialId: credential.id,
      publicKey: credential.publicKey,
      counter: credential.counter,
      transports: transportsOf(answer),
      backedUp: credentialBackedUp,
    };
  });
}

/** What a passkey's row becomes by an assertion of it. */
export async function verifyAssertion(
  party: RelyingParty,
  challenge: string,
  answer: WebauthnAnswer,
  passkey: Enrolled,
): Promise<{ readonly counter: number; readonly backedUp: boolean }> {
  return explained('assertion', party, async () => {
    refuseForeignFrame(answer);
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: answer as unknown as AuthenticationResponseJSON,
      ...demands(party, challenge),
      credential: {
        id: passkey.credentialId,
        publicKey: new Uint8Array(passkey.publicKey),
        counter: passkey.counter,
      },
    });
    if (!verified) throw new Error('not verified');
    return { counter: authenticationInfo.newCounter, backedUp: authenticationInfo.credentialBackedUp };
  });
}

/** What every answer of an authenticator is held to. */
const demands = ({ origin, rpId }: RelyingParty, challenge: string) => ({
  expectedChallenge: challenge,
  expectedOrigin: origin,
  expectedRPID: rpId,
  requireUserVerification: true,
});

/** Whatever the library objects to is the caller's input: it works on nothing else. */
async function explained<T>(what: string, expected: RelyingParty, check: () => Promise<T>): Promise<T> {
  try {
    return await check();
  } catch (error) {
    const objection = error instanceof Error ? error.message : '';
    throw new DomainError('invalid_request', `the ${what} does not hold: ${whyNot(objection, expected)}`, {
      isFailedVerification: true,
      cause: error,
    });
  }
}

/** The library lets a frame pass that does not say which page it stood in. */
function refuseForeignFrame({ response }: WebauthnAnswer): void {
  const clientData: unknown = JSON.parse(Buffer.from(response.clientDataJSON, 'base64url').toString());
  if ((clientData as { crossOrigin?: unknown } | null)?.crossOrigin === true) throw new Error('cross-origin');
}

/** None was asked for, and checking a certificate means fetching addresses that it names. */
function refuseMakersAttestation({ response }: WebauthnAnswer): void {
  const attestation = decodeAttestationObject(isoBase64URL.toBuffer(String(response.attestationObject)));
  const format = attestation.get('fmt');
  const isOwn = format === 'packed' && attestation.get('attStmt').get('x5c') === undefined;
  if (format !== 'none' && !isOwn) throw new Error('attestation format');
}

type Transport = 'ble' | 'cable' | 'hybrid' | 'internal' | 'nfc' | 'smart-card' | 'usb';
const knownTransports: readonly string[] = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'];

function transportsOf({ response: { transports } }: WebauthnAnswer): Transport[] {
  const named: readonly unknown[] = Array.isArray(transports) ? transports : [];
  return [...new Set(named)].filter(
    (transport): transport is Transport => typeof transport === 'string' && knownTransports.includes(transport),
  );
}

const descriptorOf = ({ credentialId, transports }: Named) => ({ id: credentialId, transports: [...transports] });
