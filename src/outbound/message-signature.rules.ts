/**
 * HTTP message signatures (RFC 9421) of outbound requests, in the profiles of Web Bot Auth
 * (draft-ietf-webbotauth-httpsig-protocol-01) and of Visa's Trusted Agent Protocol. Pure: makes the text that is signed
 * and the header fields; key, nonce and time are arguments.
 * @module
 */
export const signatureProfiles = ['web_bot_auth', 'trusted_agent'] as const;
export type SignatureProfile = (typeof signatureProfiles)[number];

/** `pay`: the request carries a payment, or asks for the outcome of one. */
export type RequestPurpose = 'browse' | 'pay';

export type RequestToSign = {
  readonly method: string;
  readonly url: URL;
  /** The value of `Content-Digest`; undefined for a request without a body. */
  readonly contentDigest: string | undefined;
  readonly purpose: RequestPurpose;
};

export type SignatureParameters = {
  readonly created: Date;
  /** RFC 7638, of an Ed25519 key. */
  readonly keyid: string;
  /** Never used for a second signature. */
  readonly nonce: string;
};

export type UnsignedSignature = {
  readonly label: string;
  /** What `Signature-Input` says of this signature, behind its label. */
  readonly input: string;
  /** The signature base. */
  readonly base: string;
};

/** A merchant whose clock is slow must not see a signature of the future; one that is too old is a replay. */
export const signatureLivesSeconds = 60;

/** Of the random bytes in a nonce, as Web Bot Auth's own libraries make and check it. */
export const nonceBytes = 64;

/** Both signatures can be on one request. The sample verifier of the Trusted Agent Protocol reads `sig2` only. */
const labels: Record<SignatureProfile, string> = { web_bot_auth: 'sig1', trusted_agent: 'sig2' };

type Component = { readonly identifier: string; readonly value: string };

/** `keySetUrl` is where the merchant finds the public key. */
export function unsignedSignature(
  profile: SignatureProfile,
  request: RequestToSign,
  keySetUrl: string,
  parameters: SignatureParameters,
): UnsignedSignature {
  const components = componentsOf(profile, request, keySetUrl);
  const covered = components.map(({ identifier }) => identifier).join(' ');
  const input = `(${covered})${parametersOf(parameters, tagOf(profile, request.purpose))}`;
  const lines = components.map(({ identifier, value }) => `${identifier}: ${value}`);
  return { label: labels[profile], input, base: [...lines, `"@signature-params": ${input}`].join('\n') };
}

/**
 * Web Bot Auth asks for the authority and the member of `Signature-Agent`; the rest ties the signature to this request.
 * The Trusted Agent Protocol names exactly two, and its verifiers rebuild no others.
 */
function componentsOf(
  profile: SignatureProfile,
  { method, url, contentDigest }: RequestToSign,
  keySetUrl: string,
): readonly Component[] {
  const authority = { identifier: '"@authority"', value: url.host };
  const path = { identifier: '"@path"', value: url.pathname };
  if (profile === 'trusted_agent') return [authority, path];
  return [
    { identifier: '"@method"', value: method },
    authority,
    path,
    ...(url.search === '' ? [] : [{ identifier: '"@query"', value: url.search }]),
    ...(contentDigest === undefined ? [] : [{ identifier: '"content-digest"', value: contentDigest }]),
    { identifier: `"signature-agent";key=${sfString(labels.web_bot_auth)}`, value: sfString(keySetUrl) },
  ];
}

const tagOf = (profile: SignatureProfile, purpose: RequestPurpose): string =>
  profile === 'web_bot_auth' ? 'web-bot-auth' : purpose === 'pay' ? 'agent-payer-auth' : 'agent-browser-auth';

function parametersOf({ created, keyid, nonce }: SignatureParameters, tag: string): string {
  const seconds = Math.floor(created.getTime() / 1000);
  return [
    `;created=${seconds};expires=${seconds + signatureLivesSeconds}`,
    `;keyid=${sfString(keyid)};alg="ed25519";nonce=${sfString(nonce)};tag=${sfString(tag)}`,
  ].join('');
}

/** A String of RFC 8941. It cannot hold what a header field cannot hold. */
function sfString(text: string): string {
  if (!/^[\x20-\x7e]*$/.test(text)) throw new TypeError('a structured field holds printable ASCII only');
  return `"${text.replace(/["\\]/g, String.raw`\$&`)}"`;
}

export type Signed = UnsignedSignature & { readonly signature: Uint8Array };

/** `sha256` of the body's bytes. */
export const contentDigestOf = (sha256: Uint8Array): string => `sha-256=${sfBytes(sha256)}`;

/** The header fields of a signed request, in addition to its own. */
export function signatureHeaders(
  signed: readonly Signed[],
  keySetUrl: string,
  contentDigest: string | undefined,
): Record<string, string> {
  const member = (signature: Signed, value: string): string => `${signature.label}=${value}`;
  const covers = (identifier: string): boolean => signed.some(({ input }) => input.includes(identifier));
  return {
    ...(contentDigest !== undefined && covers('"content-digest"') ? { 'Content-Digest': contentDigest } : {}),
    ...(covers('"signature-agent"') ? { 'Signature-Agent': `${labels.web_bot_auth}=${sfString(keySetUrl)}` } : {}),
    'Signature-Input': signed.map((signature) => member(signature, signature.input)).join(', '),
    Signature: signed.map((signature) => member(signature, sfBytes(signature.signature))).join(', '),
  };
}

const sfBytes = (bytes: Uint8Array): string => `:${Buffer.from(bytes).toString('base64')}:`;
