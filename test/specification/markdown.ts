/** Takes a Markdown text apart into what the specification is made of. Anything else in it is an error. @module */
export type Block = { readonly section: string; readonly line: number } & (
  | { readonly kind: 'row'; readonly columns: readonly string[]; readonly cells: Readonly<Record<string, string>> }
  | { readonly kind: 'item'; readonly number: number | undefined; readonly text: string }
  | { readonly kind: 'paragraph'; readonly text: string }
  | { readonly kind: 'heading'; readonly text: string }
);

/** `section` is the heading path below the title: `Endpoints > POST /policies`. */
export function blocksOf(markdown: string): Block[] {
  const headings: string[] = [];
  const blocks: Block[] = [];
  let columns: readonly string[] | undefined;
  for (const [index, raw] of markdown.split('\n').entries()) {
    const [text, line] = [raw.trimEnd(), index + 1];
    const heading = /^(#+) (.+)$/.exec(text);
    if (heading?.[1] !== undefined && heading[2] !== undefined) {
      headings.splice(heading[1].length - 1, headings.length, heading[2]);
    }
    const section = headings.slice(1).join(' > ');
    const isRow = text.startsWith('|');
    if (!isRow) columns = undefined;
    if (text === '') continue;
    if (heading?.[2] !== undefined) blocks.push({ kind: 'heading', section, line, text: heading[2] });
    else if (isRow && columns === undefined) columns = cellsOf(text);
    else if (isRow && columns !== undefined) {
      const cells = cellsOf(text);
      if (cells.every((cell) => /^:?-+:?$/.test(cell))) continue;
      if (cells.length !== columns.length)
        throw new Error(`line ${line}: ${cells.length} cells, not ${columns.length}`);
      const named = Object.fromEntries(columns.map((column, at) => [column, cells[at] ?? '']));
      blocks.push({ kind: 'row', section, line, columns, cells: named });
    } else blocks.push(itemOrParagraph(text, section, line));
  }
  return blocks;
}

const cellsOf = (row: string): string[] =>
  row
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim());

function itemOrParagraph(text: string, section: string, line: number): Block {
  const [, marker, rest] = /^(- |\d+\. )(.+)$/.exec(text) ?? [];
  if (marker === undefined || rest === undefined) {
    if (/^\s|^[>*+]|^```/.test(text)) throw new Error(`line ${line}: a form that is not known here: ${text}`);
    return { kind: 'paragraph', section, line, text };
  }
  const number = marker === '- ' ? undefined : Number.parseInt(marker, 10);
  return { kind: 'item', section, line, number, text: rest };
}
