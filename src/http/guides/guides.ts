/**
 * The guides at /docs/guides, with a search over them: read once from docs/, served without a script and without anything
 * from elsewhere. Decides which pages of the documentation are served.
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { type Html, html } from '../html.ts';
import { type Rendered, renderMarkdown } from './markdown.ts';
import { search, wordsOf } from './search.ts';

const docs = new URL('../../../docs/', import.meta.url);

/** What the guides refer to; the others are for operators and developers, who have the repository. */
const references = [
  ...['requests', 'errors', 'limits', 'webhooks', 'passkeys', 'checkout', 'machine-payments', 'deploy', 'security'],
  ...['ledger', 'glossary'],
];

/** In the order in which a newcomer needs them; a guide that is not named comes last. */
const order = ['let-an-agent-buy', 'approve-on-your-phone', 'give-an-agent-a-budget'];
const rankOf = (name: string): number => (order.includes(name) ? order.indexOf(name) : order.length);

const base = '/docs/guides';

type Guide = Rendered & { readonly path: string; readonly kind: 'guide' | 'reference' };

export type GuidePages = {
  /** Of each guide; the index is not among them. */
  readonly paths: ReadonlyMap<string, string>;
  index(question: string | undefined): string;
};

export function guidePages(): GuidePages {
  const guides = read();
  return {
    paths: new Map(guides.map((guide) => [guide.path, pageOf(guide.title, html`${header}${guide.body}`)])),
    index: (question) => indexOf(guides, question),
  };
}

function read(): Guide[] {
  const names = readdirSync(new URL('guides/', docs))
    .filter((name) => name.endsWith('.md'))
    .map((name) => name.slice(0, -'.md'.length))
    .toSorted((one, other) => rankOf(one) - rankOf(other) || one.localeCompare(other));
  const files = [
    ...names.map((name) => ({ file: `guides/${name}.md`, path: `${base}/${name}`, kind: 'guide' as const })),
    ...references.map((name) => ({ file: `${name}.md`, path: `${base}/${name}`, kind: 'reference' as const })),
  ];
  const pathOf = new Map(files.map(({ file, path }) => [file, path]));
  return files.map(({ file, path, kind }) => {
    const resolve = (href: string): string | undefined => {
      const [target = '', anchor] = href.split('#');
      const to = pathOf.get(posix.join(posix.dirname(file), target));
      return to === undefined || anchor === undefined ? to : `${to}#${anchor}`;
    };
    return { path, kind, ...renderMarkdown(readFileSync(new URL(file, docs), 'utf8'), resolve) };
  });
}

function indexOf(guides: readonly Guide[], question: string | undefined): string {
  const list = (kind: Guide['kind']): Html =>
    html`<ul>${guides.filter((one) => one.kind === kind).map(({ path, title }) => html`<li><a href="${path}">${title}</a></li>`)}</ul>`;
  const asked = question !== undefined && wordsOf(question).length > 0;
  return pageOf(
    'Guides',
    html`<h1>Guides</h1>
      <form action="${base}" role="search">
        <label for="q">Search the guides</label>
        <input id="q" name="q" type="search" maxlength="200" value="${question ?? ''}">
        <button>Search</button>
      </form>
      ${asked ? results(guides, question) : undefined}
      <h2>By task</h2>
      ${list('guide')}
      <h2>Reference</h2>
      ${list('reference')}
      <p>Each operation with its fields: <a href="/docs">the API</a>.</p>`,
  );
}

function results(guides: readonly Guide[], question: string): Html {
  const found = search(guides, question);
  return html`<h2>Found</h2>
      <p role="status">${found.length === 0 ? 'Nothing has all these words.' : `${found.length} ${found.length === 1 ? 'section' : 'sections'}`}</p>
      <ol class="found">${found.map(
        ({ href, title, heading, excerpt }) =>
          html`<li><a href="${href}">${title === heading ? title : `${title}: ${heading}`}</a><p>${excerpt}</p></li>`,
      )}</ol>`;
}

const header = html`<p><a href="${base}">All guides</a></p>
`;

const pageOf = (title: string, body: Html): string =>
  `<!doctype html>\n${
    html`<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title} · Bursar</title>
    <link rel="stylesheet" href="/docs/pages/reference.css">
    <link rel="icon" href="/docs/assets/favicon-32x32.png">
  </head>
  <body>
    <main>
      ${body}
    </main>
  </body>
</html>
`.text
  }`;
