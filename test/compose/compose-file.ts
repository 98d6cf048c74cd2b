/**
 * docker-compose.yml as its services read it: parsed, with the values of an `.env` put in, and checked for the parts
 * that are used here. Knows the few forms of `${…}` that the file uses and refuses any other.
 * @module
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { parse } from 'yaml';
import * as z from 'zod';

export const projectFolder = fileURLToPath(new URL('../..', import.meta.url));

const Service = z.strictObject({
  image: z.string(),
  build: z.strictObject({ context: z.string(), dockerfile_inline: z.string() }).optional(),
  init: z.boolean().optional(),
  cap_drop: z.array(z.string()).optional(),
  security_opt: z.array(z.string()).optional(),
  profiles: z.array(z.string()).optional(),
  command: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string()).default({}),
  depends_on: z.record(z.string(), z.strictObject({ condition: z.string() })).default({}),
  volumes: z.array(z.string()).default([]),
  ports: z.array(z.string()).default([]),
  restart: z.string(),
  stop_grace_period: z.string().optional(),
  healthcheck: z
    .strictObject({
      test: z.array(z.string()),
      start_period: z.string().optional(),
      interval: z.string(),
      timeout: z.string(),
      retries: z.int(),
    })
    .optional(),
});
export type Service = z.infer<typeof Service>;

const Compose = z.looseObject({
  name: z.string(),
  services: z.record(z.string(), Service),
  volumes: z.record(z.string(), z.looseObject({})),
});
export type Compose = z.infer<typeof Compose>;

export type Env = Readonly<Record<string, string>>;

export const composeText = (): string => readFileSync(`${projectFolder}docker-compose.yml`, 'utf8');

export const exampleText = (): string => readFileSync(`${projectFolder}.env.example`, 'utf8');

/** An `.env` as an operator makes it: new secrets at each call. */
export const madeEnv = (): Env =>
  envFrom(
    execFileSync(process.execPath, [`${projectFolder}src/supervisor/env-file.mjs`, '--print'], { encoding: 'utf8' }),
  );

/** Double-quoted values of `.env` turn `\n` into a line's end, as compose does. */
export const envFrom = (text: string): Env => parseEnv(text) as Env;

export function readCompose(env: Env, text = composeText()): Compose {
  return Compose.parse(interpolated(parse(text, { merge: true }), env));
}

export type Variable = { readonly name: string; readonly isRequired: boolean };

/** Every variable that the file takes from `.env`. */
export function variablesOf(text = composeText()): Variable[] {
  return [...text.matchAll(variable)].map(([, name = '', form]) => ({ name, isRequired: form === ':?' }));
}

const variable = /\$\{([A-Z_]+)(?:(:[?-])([^}]*))?\}/g;

function interpolated(node: unknown, env: Env): unknown {
  if (typeof node === 'string') return withValues(node, env);
  if (Array.isArray(node)) return node.map((item) => interpolated(item, env));
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, interpolated(value, env)]));
}

function withValues(text: string, env: Env): string {
  const done = text.replaceAll(variable, (_, name: string, form: string | undefined, rest: string) => {
    const value = env[name] ?? '';
    if (value !== '') return value;
    if (form === ':?') throw new Error(`required variable ${name} is missing a value: ${rest}`);
    return form === ':-' ? rest : '';
  });
  const left = text.replaceAll(variable, '').includes('$');
  if (left) throw new Error(`a form of $ that this reader does not know: ${text}`);
  return done;
}
