/** The page of a sandbox shop for browsers. @module */
import { inWords } from '../../kernel/money.ts';
import type { Shop } from './shop-catalog.ts';

/** Shows only the catalog's words and a number, so there is nothing to escape. */
export function shopPage({ merchant, slug }: Shop, amountCents: number): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${merchant.name}</title></head>
<body>
<h1>${merchant.name}</h1>
<p>One thing for sale: ${inWords(amountCents)} EUR (merchant category ${merchant.mcc}, ${merchant.country}).</p>
<p>Nothing here is real. Agents buy through the Bursar checkout protocol at <code>/shops/${slug}</code>.</p>
</body>
</html>
`;
}
