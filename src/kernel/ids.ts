/**
 * Every kind of record id: its prefix, its type and how one is minted. Ids are random (UUIDv7), never computed
 * from input; a template literal type is a brand that survives JSON.
 * @module
 */
export const idPrefixes = {
  owner: 'own',
  customer: 'cus',
  key: 'key',
  agent: 'ag',
  token: 'tok',
  passkey: 'psk',
  challenge: 'chl',
  passkeyInvitation: 'pki',
  policy: 'po',
  intent: 'int',
  evidence: 'evd',
  protectRule: 'ppr',
  merchant: 'mer',
  card: 'ca',
  cardRequest: 'crq',
  checkout: 'chk',
  mppCredential: 'mppc',
  mppPayment: 'mpay',
  transaction: 'tx',
  simulation: 'sim',
  wallet: 'wal',
  funding: 'fnd',
  transfer: 'tr',
  transferSplit: 'spl',
  journal: 'jr',
  entry: 'le',
  event: 'ev',
  webhook: 'wh',
  delivery: 'whd',
  pushSubscription: 'push',
  audit: 'aud',
  request: 'req',
  accessEvent: 'ae',
  beneficiary: 'ben',
  bankFile: 'bf',
  bankEntry: 'be',
} as const;

export type IdKind = keyof typeof idPrefixes;
export type Id<K extends IdKind> = `${(typeof idPrefixes)[K]}_${string}`;

/** Mints an id of `kind` from 16 bytes; without them from a fresh UUIDv7. Lower-case Crockford, 26 characters. */
export function newId<K extends IdKind>(kind: K, bytes: Uint8Array = uuidv7Bytes()): Id<K> {
  return `${idPrefixes[kind]}_${crockford(bytes)}`;
}

/** The id that examples in documents use for each kind: the shape of a real one, and no record's. */
export const exampleId = <K extends IdKind>(kind: K): Id<K> => `${idPrefixes[kind]}_01kc1v9m3se7ttw5v1x0h2q8ab`;

/** True for any well-formed id of the kind; an unknown one is a 404, not a 400. */
export function isId<K extends IdKind>(kind: K, text: string): text is Id<K> {
  return idPattern(kind).test(text);
}

export const idPattern = (kind: IdKind): RegExp => new RegExp(`^${idPrefixes[kind]}_[a-z0-9]{8,64}$`);

/** 16 bytes of a UUIDv7: 48 bits of milliseconds, then random bits. `random` must be 10 bytes. */
export function uuidv7Bytes(ms: number = Date.now(), random: Uint8Array = tenRandom()): Uint8Array {
  const bytes = new Uint8Array(16);
  let rest = ms;
  for (let i = 5; i >= 0; i--) {
    bytes[i] = rest % 256;
    rest = Math.floor(rest / 256);
  }
  bytes.set(random, 6);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes;
}

/** Asking the system for ten bytes costs as much as asking for thousands. */
const drawn = new Uint8Array(4_000);
let used = drawn.length;

function tenRandom(): Uint8Array {
  if (used === drawn.length) {
    crypto.getRandomValues(drawn);
    used = 0;
  }
  used += 10;
  return drawn.subarray(used - 10, used);
}

/** A UUIDv7 in its usual form, for request ids. */
export function uuidv7(): string {
  const hex = Buffer.from(uuidv7Bytes()).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** Five bits a letter, from the right. */
function crockford(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let count = 0;
  for (let i = bytes.length - 1; i >= 0; i--) {
    bits |= (bytes[i] ?? 0) << count;
    for (count += 8; count >= 5; count -= 5) {
      text = alphabet[bits & 31] + text;
      bits >>= 5;
    }
  }
  return (count > 0 ? alphabet[bits] : '') + text;
}
