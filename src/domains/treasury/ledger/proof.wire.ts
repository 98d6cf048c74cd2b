/** The file of a proof, which may come from any sender: read strictly, before it is checked. Shapes only. @module */
import * as z from 'zod';
import { type Proof, proofVersion } from './proof.rules.ts';

const hash = z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 hex digits');
const proof: z.ZodType<Proof> = z.strictObject({
  version: z.literal(proofVersion),
  chain: z.enum(['journals', 'audit', 'decisions']),
  ownerId: z.string(),
  id: z.string(),
  sequence: z.int().positive(),
  format: z.int(),
  text: z.string(),
  leaf: hash,
  path: z.array(hash),
  checkpoint: z.strictObject({
    at: z.string(),
    keyId: z.string(),
    size: z.int().positive(),
    treeRoot: hash,
    head: hash,
    signature: z.string(),
  }),
});
/** The proof in a file, or what is wrong with the file, in words. */
export function proofIn(text: string): { readonly proof: Proof } | { readonly fault: string } {
  const found = proof.safeParse(jsonIn(text));
  if (found.success) return { proof: found.data };
  const [issue] = found.error.issues;
  const place = issue?.path.join('.') ?? '';
  return { fault: `is not a proof: ${place === '' ? '' : `${place}: `}${issue?.message ?? 'unreadable'}` };
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (_noJson) {
    return undefined;
  }
}
