/** The sandbox's merchants that sell by HTTP 402, and their programmed failures. Merchant ids are stable. @module */
import type { Merchant } from '../wire.ts';

/** What a merchant does with a credential: `delivers` is what it should do. */
export type Behaviour = 'delivers' | 'raises' | 'stumbles' | 'forgets-receipt' | 'gives-away';

export type PaidMerchant = {
  readonly slug: string;
  readonly merchant: Merchant;
  readonly listPriceCents: number;
  readonly behaviour: Behaviour;
};

const merchants: readonly PaidMerchant[] = [
  merchant('sandbox-api', 'Sandbox API', 'delivers'),
  // Takes no payment and asks for double.
  merchant('sandbox-raises', 'Sandbox Raises', 'raises'),
  // Charges and answers 500.
  merchant('sandbox-stumbles', 'Sandbox Stumbles', 'stumbles'),
  merchant('sandbox-no-receipt', 'Sandbox No Receipt', 'forgets-receipt'),
  // Delivers and charges nothing.
  merchant('sandbox-gives-away', 'Sandbox Gives Away', 'gives-away'),
];

export const paidMerchantSlugs: readonly string[] = merchants.map(({ slug }) => slug);
export const findPaidMerchant = (slug: string): PaidMerchant | undefined => merchants.find((one) => one.slug === slug);

function merchant(slug: string, name: string, behaviour: Behaviour): PaidMerchant {
  const id = `m_${slug.replaceAll('-', '_')}`;
  return { slug, merchant: { id, name, mcc: '5734', country: 'DE' }, listPriceCents: 499, behaviour };
}
