/**
 * Serves static files: the OpenAPI document, the documentation page and the scripts and styles of the pages. No other
 * file of a folder is served, and none needs a credential.
 * @module
 */
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RequestHandler, Router } from 'express';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import { businessTimeInWords } from './business-time.ts';
import { docsPage, docsScript } from './docs-page.ts';
import { guidePages } from './guides/guides.ts';
import { refuseMethod } from './mount.ts';
import { pageHeaders, searchPageHeaders } from './pages.ts';
import { referencePage } from './reference-page.ts';
import { Router as PathRouter } from './router.ts';

type Served = { readonly openapi: object; readonly clock: Pick<Clock, 'now'>; readonly log: Logger };

/** Before the operations: their paths are others. */
export function serveFixedFiles(router: Router, { openapi, clock, log }: Served): void {
  const paths = new PathRouter<RequestHandler>();
  for (const [at, show] of Object.entries({ ...docs(openapi, clock, log), ...pages(), ...guides() }))
    paths.add(at, show);
  router.use((request, response, next) => {
    const found = paths.find(request.path);
    if (found === undefined) return next();
    if (request.method === 'GET' || request.method === 'HEAD') return found.served(request, response, next);
    refuseMethod(['GET'], request, response, log);
  });
}

/** A copy is asked about before it is used again: a newer version may serve other files. */
const revalidated = 'no-cache';

function docs(openapi: object, clock: Pick<Clock, 'now'>, log: Logger): Record<string, RequestHandler> {
  const root = path.dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const made = (type: string, body: string): RequestHandler => {
    return (_request, response) => void response.set('Cache-Control', revalidated).type(type).send(body);
  };
  const asset = (name: string): RequestHandler => {
    return (_request, response) =>
      response.set('Cache-Control', revalidated).sendFile(name, { root, cacheControl: false });
  };
  const reference = referencePage(openapi);
  return {
    '/openapi.json': made('json', JSON.stringify(openapi)),
    '/docs': async (_request, response) => {
      const note = await noteOf(clock, log);
      response.set('Cache-Control', revalidated).type('html').send(reference(note));
    },
    '/docs/explorer': async (_request, response) => {
      const note = await noteOf(clock, log);
      response.set('Cache-Control', revalidated).type('html').send(docsPage(note));
    },
    '/docs/start.js': made('js', docsScript),
    ...Object.fromEntries(docsAssets.map((name) => [`/docs/assets/${name}`, asset(name)])),
  };
}

/** The documentation is there without a database too; then the page has no line about business time. */
async function noteOf(clock: Pick<Clock, 'now'>, log: Logger): Promise<string | undefined> {
  try {
    return businessTimeInWords(await clock.now());
  } catch (error) {
    log.warn({ err: error }, 'business time is not known; the documentation page does not show it');
    return undefined;
  }
}

/** Of the package `swagger-ui-dist`: what `docsPage` names. */
const docsAssets = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'];

function pages(): Record<string, RequestHandler> {
  const root = fileURLToPath(new URL('../browser/', import.meta.url));
  const file = (name: string): RequestHandler => {
    return (request, response) =>
      pageHeaders(request, response, () => response.sendFile(name, { root, cacheControl: false }));
  };
  return {
    '/docs/passkeys': file('enrol.html'),
    // At the root, because a service worker handles the pages below its own path.
    '/push-worker.js': file('push-worker.js'),
    ...Object.fromEntries(readdirSync(root).map((name) => [`/docs/pages/${name}`, file(name)])),
  };
}

function guides(): Record<string, RequestHandler> {
  const { paths, index } = guidePages();
  const made = (show: (question: unknown) => string): RequestHandler => {
    return (request, response) =>
      searchPageHeaders(request, response, () => {
        response.set('Cache-Control', revalidated).type('html').send(show(request.query.q));
      });
  };
  return {
    '/docs/guides': made((question) => index(typeof question === 'string' ? question : undefined)),
    ...Object.fromEntries([...paths].map(([at, page]) => [at, made(() => page)])),
  };
}
