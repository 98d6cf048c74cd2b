/**
 * A merchant's answer as the JSON object `merchant_body`: a JSON object as it is, every other content wrapped, so that
 * nothing of it is lost. Pure.
 * @module
 */
import type { MerchantBody } from './paid-resource.port.ts';

export type MerchantBodyWire = Readonly<Record<string, unknown>>;

export function merchantBodyWire({ bytes, contentType, isTruncated }: MerchantBody): MerchantBodyWire {
  const type = contentType === null ? null : contentType.slice(0, 255);
  if (isTruncated) return { truncated: true, contentType: type, receivedBytes: bytes.byteLength };
  if (bytes.byteLength === 0) return {};
  const text = textOf(bytes);
  if (text === undefined || !isTextual(type))
    return { base64: Buffer.from(bytes).toString('base64'), contentType: type };
  const json = isJson(type) ? parsed(text) : undefined;
  if (json === undefined) return { text, contentType: type };
  const { value } = json;
  return isObject(value) ? value : { json: value };
}

const mediaType = (contentType: string): string => (contentType.split(';')[0] ?? '').trim().toLowerCase();

/** A merchant without a content type most likely answers JSON, and text otherwise. */
const isJson = (contentType: string | null): boolean =>
  contentType === null || /^(application|text)\/([a-z0-9.+-]+\+)?json$/.test(mediaType(contentType));

const textual = /^(text\/.+|application\/(.+\+)?(json|xml|yaml|javascript|x-www-form-urlencoded|x-ndjson|sql))$/;

const isTextual = (contentType: string | null): boolean => contentType === null || textual.test(mediaType(contentType));

/** Undefined for what is no UTF-8, or no text. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Undefined for what is no JSON, and for JSON that is too deep to be written again. */
function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    JSON.stringify(value);
    return { value };
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is MerchantBodyWire =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
