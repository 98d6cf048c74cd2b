/** What was answered to all calls, out of the archives that Schemathesis writes. @module */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Document } from './configuration.ts';

type Archive = {
  readonly log: {
    readonly entries: readonly { request: { method: string; url: string }; response: { status: number } }[];
  };
};

export type Answers = {
  readonly calls: number;
  /** `200 x 1234`, by status. */
  readonly statuses: readonly string[];
  /** Operations that only refused: nothing was learnt about their answers. */
  readonly neverDone: readonly string[];
};

export async function answersIn(dir: string, document: Document): Promise<Answers> {
  const files = (await readdir(dir)).filter((name) => name.endsWith('.har'));
  const archives = await Promise.all(
    files.map(async (name) => JSON.parse(await readFile(join(dir, name), 'utf8')) as Archive),
  );
  const entries = archives.flatMap(({ log }) => log.entries);
  const counts = new Map<number, number>();
  for (const { response } of entries) counts.set(response.status, (counts.get(response.status) ?? 0) + 1);
  return {
    calls: entries.length,
    statuses: [...counts].sort(([a], [b]) => a - b).map(([status, count]) => `${status} x ${count}`),
    neverDone: neverDone(entries, document),
  };
}

function neverDone(entries: Archive['log']['entries'], document: Document): string[] {
  const done = entries.filter(({ response }) => response.status < 300);
  // Literal paths first, so that a call of `/agents/tokens` is none of `/agents/{id}`.
  const operations = Object.entries(document.paths)
    .flatMap(([path, methods]) => Object.entries(methods).map(([method, one]) => ({ path, method, one })))
    .sort((a, b) => Number(a.path.includes('{')) - Number(b.path.includes('{')));
  const names = done.map(({ request }) => {
    const { pathname } = new URL(request.url);
    const found = operations.find(
      ({ path, method }) =>
        method.toUpperCase() === request.method && new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`).test(pathname),
    );
    return found?.one.operationId;
  });
  return operations.map(({ one }) => one.operationId).filter((name) => !names.includes(name));
}
