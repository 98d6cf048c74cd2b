/**
 * `npm run audit`: known vulnerabilities, licences and the bill of materials of the production dependencies. Exit code
 * 0: nothing found, also (with a message) where the registry gave no advisories; 1: something found; 2: a check could
 * not be run; 3: with `--strict`, the registry gave no advisories. `--offline` asks no registry.
 * @module
 */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as z from 'zod';

/** SPDX identifiers that may be used in a product that is sold and hosted. */
const allowedLicences: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'Unlicense',
]);

/** Packages whose package.json names no licence; read in their LICENSE file. */
const readLicences: Readonly<Record<string, string>> = { unionfs: 'Unlicense' };

/**
 * Single packages under a licence that is not on the list, with the reason. `web-push` encrypts and signs push messages;
 * MPL-2.0 asks for the source of its own files alone, which are used unchanged, see docs/decisions.md.
 */
const allowedByName: Readonly<Record<string, string>> = { 'web-push': 'MPL-2.0' };

const License = z.object({ license: z.object({ id: z.string().optional(), name: z.string().optional() }) });
const Expression = z.object({ expression: z.string() });
export const Sbom = z.looseObject({
  bomFormat: z.literal('CycloneDX'),
  specVersion: z.string().regex(/^1\.\d$/),
  serialNumber: z.string().regex(/^urn:uuid:/),
  version: z.int(),
  components: z
    .array(
      z.looseObject({
        'bom-ref': z.string(),
        type: z.string(),
        name: z.string(),
        version: z.string(),
        purl: z.string().startsWith('pkg:npm/'),
        licenses: z.array(z.union([License, Expression])).optional(),
      }),
    )
    .min(1),
  dependencies: z.array(z.looseObject({ ref: z.string() })),
});
export type Component = z.output<typeof Sbom>['components'][number];

/** Undefined when every licence of the component may be used, of `OR` one of them; else what it is. */
export function refusedLicence({ name, licenses = [] }: Pick<Component, 'name' | 'licenses'>): string | undefined {
  const stated = licenses.map((one) => ('expression' in one ? one.expression : (one.license.id ?? one.license.name)));
  const known = stated.length === 0 ? [readLicences[name]] : stated;
  const isFree = known.every((one) => one !== undefined && (isAllowed(one) || one === allowedByName[name]));
  return isFree ? undefined : known.join(', ') || 'none stated';
}

/** SPDX expressions as packages write them: `(MIT OR GPL-2.0) AND ISC`. An expression that cannot be parsed is not allowed. */
function isAllowed(expression: string): boolean {
  const flat = expression.replace(/\(([^()]*)\)/g, (_, inner: string) => (isAllowed(inner) ? 'MIT' : 'refused'));
  if (flat !== expression) return isAllowed(flat);
  return expression
    .split(/ OR /i) // Some write it in lower case.
    .some((choice) => choice.split(' AND ').every((licence) => allowedLicences.has(licence.trim())));
}

const Advisories = z.object({
  metadata: z.object({ vulnerabilities: z.object({ total: z.int() }) }),
  vulnerabilities: z.record(z.string(), z.looseObject({ severity: z.string() })),
});

/** What `npm audit --json` says: what is known to be vulnerable, or that the registry did not say. */
export function advisoriesIn(json: string): { readonly found: string[] } | { readonly unknown: string } {
  const report: unknown = JSON.parse(json);
  const advisories = Advisories.safeParse(report);
  if (advisories.success) {
    return {
      found: Object.entries(advisories.data.vulnerabilities).map(([name, { severity }]) => `${name}: ${severity}`),
    };
  }
  const { message } = z.looseObject({ message: z.string().optional() }).parse(report);
  return { unknown: message ?? 'no readable answer' };
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const sbomFile = path.join(root, 'dist', 'bursar.cdx.json');

const say = (line: string): boolean => process.stdout.write(`${line}\n`);

/** npm leaves with 1 where it found something; what it printed counts. */
async function npm(...given: string[]): Promise<string> {
  const run = promisify(execFile)('npm', given, { cwd: root, maxBuffer: 64 * 1024 * 1024 });
  const { stdout } = await run.catch((error: { stdout?: string; message: string }) => {
    if (!error.stdout) throw new Error(`npm ${given[0]} failed: ${error.message}`);
    return { stdout: error.stdout };
  });
  return stdout;
}

async function audit({ isOffline, isStrict }: { isOffline: boolean; isStrict: boolean }): Promise<number> {
  const sbom = Sbom.parse(JSON.parse(await npm('sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev')));
  await mkdir(path.dirname(sbomFile), { recursive: true });
  await writeFile(sbomFile, `${JSON.stringify(sbom, null, 2)}\n`);
  say(`bill of materials: ${sbom.components.length} components, CycloneDX ${sbom.specVersion}, dist/bursar.cdx.json`);

  const refused = sbom.components.flatMap((component) => {
    const licence = refusedLicence(component);
    return licence === undefined ? [] : [`${component.name} ${component.version}: ${licence}`];
  });
  say(`licences: ${refused.length === 0 ? 'all on the list' : `${refused.length} not on the list`}`);
  for (const line of refused) say(`  ${line}`);

  if (isOffline) {
    say('known vulnerabilities: not checked (--offline)');
    return refused.length === 0 ? 0 : 1;
  }
  const advisories = advisoriesIn(await npm('audit', '--omit', 'dev', '--json'));
  if ('unknown' in advisories) {
    say(`known vulnerabilities: NOT CHECKED, the registry gives no advisories (${advisories.unknown})`);
    if (refused.length > 0) return 1;
    return isStrict ? 3 : 0;
  }
  say(`known vulnerabilities: ${advisories.found.length === 0 ? 'none' : advisories.found.length}`);
  for (const line of advisories.found) say(`  ${line}`);
  return refused.length + advisories.found.length === 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const given = process.argv.slice(2);
  process.exitCode = await audit({
    isOffline: given.includes('--offline'),
    isStrict: given.includes('--strict'),
  }).catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return 2;
  });
}
