/** The version of the package, from its manifest. That of the interface is `src/main/version.ts`. @module */
import { readFileSync } from 'node:fs';
import * as z from 'zod';

const manifest = z.object({ version: z.string().regex(/^\d+\.\d+\.\d+/) });

export const packageVersion: string = manifest.parse(
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')),
).version;
