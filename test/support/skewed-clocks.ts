/** Lets a test set how far off the real clocks of an installation's processes are (`skewed-clock.mjs`). @module */
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const preload = fileURLToPath(new URL('skewed-clock.mjs', import.meta.url));
/** Longer than what a process has read counts (skewed-clock.mjs), however busy the machine is. */
const takesEffectMs = 40;

/** In ms of real time; a process that is not named has the right time. */
export type Skew = { readonly api?: number; readonly worker?: number };

export async function openClocks() {
  const dir = await mkdtemp(join(tmpdir(), 'bursar-clocks-'));
  const file = join(dir, 'clocks.json');
  /** A process reads the file at any time, so it is replaced as a whole. */
  const set = async (skew: Skew): Promise<void> => {
    await writeFile(`${file}.new`, JSON.stringify(skew));
    await rename(`${file}.new`, file);
    await sleep(takesEffectMs);
  };
  await set({});
  return {
    /** For the installation. */
    env: { NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import=${preload}`, TEST_CLOCKS: file },
    set,
    remove: () => rm(dir, { recursive: true, force: true }),
  };
}
export type Clocks = Awaited<ReturnType<typeof openClocks>>;
