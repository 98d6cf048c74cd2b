/** Faults in signatures, proofs and secrets. @module */
import { type Fault, faultsIn } from '../fault.ts';

export const signatureFaults: readonly Fault[] = [
  ...faultsIn(
    'signatures',
    'src/domains/payments/network/network.signature.ts',
    ['test/rules/payments/network.signature'],
    [
      {
        from: 'signed: `${seconds}.${requestLine}.`, digest: undefined',
        to: 'signed: `${seconds}.`, digest: undefined',
        harm: 'a signed reversal is accepted as a clearing',
        tests: ['test/rules/payments/network.signature', 'test/api/security/network-signature'],
      },
      {
        from: 'if (adapter === undefined || Math.abs(apartMs) <= toleranceSeconds * 1_000) return { adapter };',
        to: 'if (adapter === undefined || apartMs <= toleranceSeconds * 1_000) return { adapter };',
        harm: 'a message of the far future is accepted, and can be repeated until then',
      },
      {
        from: "if (key === undefined || key === '') return false;",
        to: 'if (key === undefined) return false;',
        harm: 'an adapter without a key accepts what a stranger signs with the empty key',
      },
    ],
  ),
  ...faultsIn(
    'signatures',
    'src/domains/delivery/webhooks/webhook.signature.ts',
    ['test/rules/delivery/webhook.signature'],
    [
      {
        from: '.update(`${attemptId}.${unixSeconds}.${body}`)',
        to: '.update(`${attemptId}.${unixSeconds}`)',
        harm: 'a changed body of a webhook verifies',
      },
      {
        from: "secret.slice(prefix.length), { encoding: 'base64' }",
        to: 'secret',
        harm: 'no library for Standard Webhooks verifies a delivery',
      },
    ],
  ),
  ...faultsIn(
    'signatures',
    'src/domains/identity/approvals/decision-signature.ts',
    ['test/rules/spending/decision-signature', 'test/rules/identity'],
    [
      {
        from: "if (words !== wordsOf(decision)) return 'invalid';",
        to: '',
        harm: 'a signed denial is sent to Temporal as an approval',
      },
      {
        from: "<= signatureValidMs ? 'valid' : 'expired';",
        to: "<= signatureValidMs ? 'valid' : 'valid';",
        harm: 'a decision that is found in a history is repeated years later',
      },
      {
        from: 'const contextOf = (subjectId: string): string => `decision/${subjectId}`;',
        to: 'const contextOf = (_subjectId: string): string => `decision/`;',
        harm: 'the approval of one intent approves another',
      },
    ],
  ),
  ...faultsIn(
    'signatures',
    'src/domains/identity/passkeys/passkey.ceremony.ts',
    ['test/api/identity/passkeys.api', 'test/api/spending/attestation.api', 'test/rules/identity/passkey'],
    [
      {
        from: 'requireUserVerification: true,',
        to: 'requireUserVerification: false,',
        harm: 'a passkey approves without PIN or biometrics',
        named: 'an unverified user',
      },
      {
        from: 'counter: passkey.counter,\n      },',
        to: 'counter: 0,\n      },',
        harm: 'a copied passkey is not noticed',
        named: 'a counter that',
      },
      {
        from: "if ((clientData as { crossOrigin?: unknown } | null)?.crossOrigin === true) throw new Error('cross-origin');",
        to: 'void clientData;',
        harm: 'a page of a stranger asks for an approval in a frame',
        named: 'a page inside another',
      },
      {
        from: "if (format !== 'none' && !isOwn) throw new Error('attestation format');",
        to: 'void isOwn;',
        harm: 'checking a maker’s certificate fetches addresses that it names',
        named: 'a maker’s attestation',
      },
    ],
  ),
  ...faultsIn(
    'signatures',
    'src/domains/payments/mpp/challenge-id.rules.ts',
    ['test/rules/payments/mpp'],
    [
      {
        from: 'const places = [realm, method, intent, request, expires, digest,',
        to: 'const places = [realm, method, intent, request, expires,',
        harm: 'the body of a paid request can be exchanged',
      },
      {
        from: 'return expected.length === given.length && timingSafeEqual(expected, given);',
        to: 'return timingSafeEqual(expected.subarray(0, given.length), given);',
        harm: 'the first letter of a challenge’s id is enough',
      },
    ],
  ),
  ...faultsIn(
    'signatures',
    'src/platform/record-chains/merkle.rules.ts',
    ['test/rules/platform'],
    [
      {
        from: 'const nodePrefix = Buffer.of(1);',
        to: 'const nodePrefix = Buffer.of(0);',
        harm: 'an inner node of the tree is presented as a record',
      },
      {
        from: 'if (sibling !== undefined) path.push(sibling);',
        to: "path.push(sibling ?? level[at] ?? '');",
        harm: 'the proof of the last record of an odd level does not verify',
      },
    ],
  ),
  ...faultsIn(
    'signatures',
    'src/db/functions/claim-deliveries.sql',
    ['test/api/delivery/webhook-commands'],
    [
      {
        from: 'case when w.previous_secret_until > now() then w.previous_sealed_secret end',
        to: 'w.previous_sealed_secret',
        harm: 'the secret of before a rotation signs deliveries for ever',
        named: 'both secrets sign',
      },
    ],
  ),
];
