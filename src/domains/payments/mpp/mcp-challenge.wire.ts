/**
 * Finds payment challenges in the answer to an MCP request (MPP's MCP transport): in the error -32042, in the error
 * -32043 that refuses a credential and has a new challenge, in the error -32603 that carries -32042 since protocol
 * 2026-07-28, and in the metadata of a tool's result. Reads the form only; challenge.wire.ts decides which challenge can
 * be answered.
 * @module
 */
import * as z from 'zod';
import type { HeaderChallenge } from './authenticate-header.rules.ts';

/** JSON-RPC error codes. In the protocol of 2026 the code for a demanded payment becomes "internal error". */
const demandCodes: readonly number[] = [-32042, -32043, -32603];
/** Says that the server failed with a credential. It may have charged, so its new challenge is not to be paid. */
const internalError = 'https://paymentauth.org/problems/internal-payment-error';
const demandMetaKey = 'org.paymentauth/payment-required';

/** Servers send one to a few. */
const mostChallenges = 32;
/** A charge has three. */
const mostLevels = 32;

const demand = z.object({ challenges: z.array(z.record(z.string(), z.unknown())).min(1) });
const failed = z.object({
  error: z.object({ code: z.int(), data: demand.extend({ problem: z.unknown().optional() }) }),
});
const answered = z.object({ result: z.object({ _meta: z.object({ [demandMetaKey]: demand }) }) });

/**
 * The challenges of a JSON-RPC answer, in the server's order, in the form in which a header has them: `request`, which
 * is a JSON object here, as base64url text. Empty for every other answer.
 */
export function challengesOfMcpAnswer(answer: unknown): HeaderChallenge[] {
  return (demandIn(answer)?.challenges ?? []).slice(0, mostChallenges).map(headerForm);
}

function demandIn(answer: unknown): z.infer<typeof demand> | undefined {
  const error = failed.safeParse(answer).data?.error;
  if (error !== undefined)
    return demandCodes.includes(error.code) && !isInternalError(error.data.problem) ? error.data : undefined;
  return answered.safeParse(answer).data?.result._meta[demandMetaKey];
}

const isInternalError = (problem: unknown): boolean =>
  typeof problem === 'object' && problem !== null && 'type' in problem && problem.type === internalError;

const texts: readonly string[] = [
  'id',
  'realm',
  'method',
  'intent',
  'expires',
  'digest',
  'description',
  'opaque',
  'header',
];

/**
 * Other members are ignored, whatever their type. `request` is written canonically (RFC 8785): the server computed the
 * id from that form, and the order of the members on the wire is no part of it.
 */
function headerForm({ request, ...challenge }: Readonly<Record<string, unknown>>): HeaderChallenge {
  const parameters = new Map<string, string>();
  let fault: string | undefined;
  for (const name of texts.filter((one) => challenge[one] !== undefined)) {
    const value = challenge[name];
    if (typeof value === 'string') parameters.set(name, value);
    else fault ??= `${name} is not a text`;
  }
  if (isDeeper(request, mostLevels)) fault ??= `request has more than ${mostLevels} levels`;
  else if (typeof request === 'object' && request !== null)
    parameters.set('request', Buffer.from(canonicalJson(request)).toString('base64url'));
  else fault ??= 'request is not a JSON object';
  return { scheme: 'payment', parameters, fault };
}

/** Members by UTF-16 code units; numbers and texts as JSON.stringify writes them. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(',')}}`;
}

const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1)));
