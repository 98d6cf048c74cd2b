/**
 * Pages for people: the answer of an operation as HTML for browsers, and headers that prevent caching, framing and
 * foreign scripts. Decides nothing.
 * @module
 */
import type { Request, RequestHandler, Response } from 'express';
import helmet from 'helmet';
import type * as z from 'zod';
import type { Html } from './html.ts';

/** How an operation's answer looks in a browser. */
export type Page<Body extends z.ZodType = z.ZodType> = {
  /** What the operation's contract promises as JSON. */
  readonly of: Body;
  /** Anything else throws. */
  show(body: unknown): Html;
  /** A refusal by the edge or by the operation, as far as the caller may know it. */
  refuse(refusal: { readonly status: number; readonly message: string }): Html;
};

type Sheets<Body extends z.ZodType> = Pick<Page, 'refuse'> & { show(body: z.output<Body>): Html };

export const pageOf = <Body extends z.ZodType>(of: Body, { show, refuse }: Sheets<Body>): Page<Body> => ({
  of,
  show: (body) => show(of.parse(body)),
  refuse,
});

/** No external resources, no inline code, no framing. */
const directives = {
  'default-src': ["'none'"],
  'script-src': ["'self'"],
  'style-src': ["'self'"],
  'img-src': ["'self'"],
  'connect-src': ["'self'"],
  'manifest-src': ["'self'"],
  'base-uri': ["'none'"],
  'form-action': ["'none'"],
  'frame-ancestors': ["'none'"],
};
const headersWith = (policy: typeof directives): RequestHandler => {
  const setPolicy = helmet.contentSecurityPolicy({ useDefaults: false, directives: policy });
  return (request, response, next) => {
    response.set({ 'X-Frame-Options': 'DENY', 'X-Robots-Tag': 'noindex' });
    setPolicy(request, response, next);
  };
};

export const pageHeaders = headersWith(directives);

/** Of pages without a script, whose form asks the same server. */
export const searchPageHeaders = headersWith({
  ...directives,
  'script-src': ["'none'"],
  'connect-src': ["'none'"],
  'form-action': ["'self'"],
});

/** A browser asks for HTML and gets the page; a client that accepts anything gets JSON. */
export function negotiatePage(page: Page, request: Request, response: Response): void {
  pageHeaders(request, response, () => undefined);
  response.vary('Accept');
  if (request.accepts(['json', 'html']) === 'html') response.locals.page = page;
}

export const pageFor = (response: Response): Page | undefined => response.locals.page as Page | undefined;
