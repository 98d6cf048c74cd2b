/** How long a value is as JSON. @module */

/** Bytes of its JSON in UTF-8; infinite for what is too deep to be written. */
export function jsonBytes(value: unknown): number {
  try {
    return Buffer.byteLength(JSON.stringify(value));
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
