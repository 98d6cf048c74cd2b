/**
 * Turns a page of documentation into HTML and into sections that can be searched. Raw HTML is shown as text, and a link
 * leads only to what is served here, to an anchor or to https.
 * @module
 */
import { Marked, type Token, type Tokens } from 'marked';
import { Html, html } from '../html.ts';

export type Section = { readonly anchor: string; readonly heading: string; readonly text: string };
export type Rendered = {
  readonly title: string;
  readonly body: Html;
  /** The first has the page's title, and what stands before the first heading below it. */
  readonly sections: readonly [Section, ...Section[]];
};

/** Where a relative link leads; `undefined` where nothing is served. */
export type Resolve = (href: string) => string | undefined;

export function renderMarkdown(markdown: string, resolve: Resolve): Rendered {
  const marked = new Marked({
    renderer: {
      html: ({ text }) => html`${text}`.text,
      heading: function ({ tokens, depth, text }) {
        return `<h${depth} id="${anchorOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link: function ({ href, tokens }) {
        const inside = this.parser.parseInline(tokens);
        const to = /^(https:\/\/|#)/.test(href) ? href : resolve(href);
        return to === undefined ? inside : `${html`<a href="${to}">${new Html(inside)}</a>`.text}`;
      },
      image: ({ text }) => html`<em>${text}</em>`.text,
      code: ({ text, lang }) => {
        const label = lang === 'text' ? 'Output' : 'Code';
        return `${html`<pre tabindex="0" role="group" aria-label="${label}"><code>${text}</code></pre>`.text}\n`;
      },
      table: function ({ header, rows }) {
        const row = (tag: string, cells: readonly Tokens.TableCell[]): string =>
          `<tr>${cells.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')}</tr>`;
        const body = rows.map((cells) => row('td', cells)).join('\n');
        const wide = '<div class="wide" tabindex="0" role="group" aria-label="Table">';
        return `${wide}<table><thead>${row('th', header)}</thead><tbody>${body}</tbody></table></div>\n`;
      },
    },
  });
  const tokens = marked.lexer(markdown);
  const sections = sectionsOf(tokens);
  return { title: sections[0].heading, body: new Html(marked.parser(tokens)), sections };
}

/** As GitHub makes them, so that a link works in both places. */
const anchorOf = (heading: string): string =>
  plain(heading)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');

/** Without the signs of markup, as far as a reader of an excerpt would notice. */
const plain = (markdown: string): string =>
  markdown
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*|]/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();

function sectionsOf(tokens: readonly Token[]): [Section, ...Section[]] {
  const found: { heading: string; raw: string }[] = [];
  for (const token of tokens) {
    const last = found.at(-1);
    if (token.type === 'heading') found.push({ heading: (token as Tokens.Heading).text, raw: '' });
    else if (last !== undefined) last.raw += `\n${token.raw}`;
  }
  const [first, ...others] = found.map(({ heading, raw }) => ({
    anchor: anchorOf(heading),
    heading: plain(heading),
    text: plain(raw.replace(/^```\w*$/gm, '')),
  }));
  if (first === undefined) throw new Error('a page of documentation begins with a heading');
  return [first, ...others];
}
