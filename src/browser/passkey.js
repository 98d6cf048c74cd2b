/** Passkey ceremonies in the browser: converts the API's options, runs the ceremony and returns the JSON for the API. Stores nothing. */

/** Why no ceremony can run here; undefined where one can. */
export function whyNoPasskeys(origin) {
  if (origin !== location.origin) return `Passkeys work at ${origin} only; this page is open at ${location.origin}.`;
  if (!window.isSecureContext) return 'Passkeys need https, or localhost.';
  if (window.PublicKeyCredential === undefined) return 'This browser knows no passkeys.';
  return undefined;
}

export async function askForPasskey(options, signal) {
  const publicKey = withBytes(options, 'allowCredentials');
  const credential = await navigator.credentials.get({ publicKey, signal });
  return jsonOf(credential, ['clientDataJSON', 'authenticatorData', 'signature', 'userHandle']);
}

export async function makePasskey(options) {
  const publicKey = withBytes(options, 'excludeCredentials');
  publicKey.user = { ...publicKey.user, id: bytesOf(publicKey.user.id) };
  const credential = await navigator.credentials.create({ publicKey });
  const json = jsonOf(credential, ['clientDataJSON', 'attestationObject']);
  json.response.transports = credential.response.getTransports?.() ?? [];
  return json;
}

/** In words, for a person. */
export function whyNotMade(error) {
  if (error.name === 'NotAllowedError')
    return 'No passkey was used: the request was cancelled, took too long, or this device has none that fits.';
  if (error.name === 'InvalidStateError') return 'This device holds an enrolled passkey already.';
  if (error.name === 'SecurityError') return 'The browser takes no passkey for this address.';
  return 'The browser could not use a passkey.';
}

function withBytes(options, listed) {
  const list = (options[listed] ?? []).map((one) => ({ ...one, id: bytesOf(one.id) }));
  return { ...options, challenge: bytesOf(options.challenge), [listed]: list };
}

function jsonOf(credential, parts) {
  const response = {};
  for (const part of parts) {
    const bytes = credential.response[part];
    if (bytes) response[part] = textOf(bytes);
  }
  return {
    id: credential.id,
    rawId: textOf(credential.rawId),
    type: credential.type,
    response,
    clientExtensionResults: credential.getClientExtensionResults(),
  };
}

const bytesOf = (text) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (sign) => sign.charCodeAt(0));

const textOf = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');
