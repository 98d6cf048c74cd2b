/**
 * Checkpoints as files outside the database, one per interval, with the public key beside them. A file is complete or
 * absent, and is never written twice.
 * @module
 */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { chmod, link, mkdtemp, open, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { makeFolder } from '../../../platform/make-folder.ts';
import { type Checkpoint, checkpointVersion, keyIdOf, publicPemOf } from './checkpoint.rules.ts';

export type CheckpointStore = {
  /** Oldest first. Throws for a file that is not a checkpoint. */
  all(): AsyncIterable<{ name: string; checkpoint: Checkpoint }>;
  last(): Promise<Checkpoint | undefined>;
  /** On disk, flushed, when this returns. */
  add(checkpoint: Checkpoint, key: KeyObject): Promise<void>;
};

export const checkpointFolder = (folder: string): CheckpointStore => ({
  all: () => inOrder(folder),
  last: async () => {
    const name = (await names(folder)).at(-1);
    return name === undefined ? undefined : read(folder, name);
  },
  add: async (checkpoint, key) => {
    await makeFolder(folder, 0o700);
    await place(folder, `public-key-${keyIdOf(key)}.pem`, publicPemOf(key));
    const name = fileName(checkpoint.at);
    const isNew = await place(folder, name, `${JSON.stringify(checkpoint, undefined, 2)}\n`);
    if (!isNew) throw new Error(`the checkpoint ${name} exists already`);
  },
});

/** The public keys that stand beside the checkpoints, by key id. */
export async function publicKeysIn(folder: string): Promise<Map<string, KeyObject>> {
  const found = (await list(folder)).flatMap((name) => /^public-key-([0-9a-f]{16})\.pem$/.exec(name)?.[1] ?? []);
  return new Map(
    await Promise.all(
      found.map(
        async (id) => [id, createPublicKey(await readFile(join(folder, `public-key-${id}.pem`), 'utf8'))] as const,
      ),
    ),
  );
}

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const shape = z.strictObject({
  version: z.literal(checkpointVersion).optional(),
  at: z.iso.datetime(),
  keyId: z.string(),
  previousRoot: hash,
  root: hash,
  rootSignature: z.string(),
  heads: z.array(
    z.strictObject({
      chain: z.string().optional(),
      ownerId: z.string(),
      sequence: z.int().positive(),
      hash,
      treeRoot: hash.optional(),
      signature: z.string(),
    }),
  ),
});

/** Colons are not allowed in file names everywhere. */
const fileName = (at: string): string => `${at.replaceAll(':', '-')}.json`;

const list = (folder: string): Promise<string[]> =>
  readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });

const names = async (folder: string): Promise<string[]> =>
  (await list(folder)).filter((name) => /^\d{4}-.*Z\.json$/.test(name)).sort();

async function read(folder: string, name: string): Promise<Checkpoint> {
  const parsed = shape.safeParse(JSON.parse(await readFile(join(folder, name), 'utf8')));
  if (!parsed.success) throw new Error(`${name} is not a checkpoint: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

async function* inOrder(folder: string): AsyncIterable<{ name: string; checkpoint: Checkpoint }> {
  for (const name of await names(folder)) yield { name, checkpoint: await read(folder, name) };
}

/** Written aside and linked into place: whole, and only where nothing stands yet. */
async function place(folder: string, name: string, text: string): Promise<boolean> {
  const aside = await mkdtemp(join(folder, '.half-'));
  try {
    const half = join(aside, name);
    const file = await open(half, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await chmod(half, 0o600);
    await link(half, join(folder, name));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}
