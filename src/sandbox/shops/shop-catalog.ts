/** The sandbox's shops and their programmed failures. Merchant ids are stable. @module */
import type { Merchant } from '../wire.ts';

export type Shop = {
  readonly slug: string;
  readonly merchant: Merchant;
  readonly listPriceCents: number;
  /** On Bursar's business clock; absent: at once. */
  readonly clearsAfterMs?: number;
  /** Answers 500 once per order, after its authorization. */
  readonly stumblesOnce?: boolean;
};

const day = 24 * 3_600_000;
const defaults = { listPriceCents: 1_250 };

const shops: readonly Shop[] = [
  { ...defaults, slug: 'sandbox-shop', merchant: merchant('m_sandbox_shop', 'Sandbox Shop', '5734') },
  { ...defaults, slug: 'example-shop', merchant: merchant('m_example_shop', 'Example Shop', '5942') },
  {
    slug: 'sandbox-hotel',
    merchant: merchant('m_sandbox_hotel', 'Sandbox Hotel', '7011'),
    listPriceCents: 9_900,
    clearsAfterMs: day,
  },
  { ...defaults, slug: 'sandbox-casino', merchant: merchant('m_sandbox_casino', 'Sandbox Casino', '7995') },
  {
    ...defaults,
    slug: 'sandbox-flaky',
    merchant: merchant('m_sandbox_flaky', 'Sandbox Flaky', '5734'),
    stumblesOnce: true,
  },
];

export const shopSlugs: readonly string[] = shops.map((shop) => shop.slug);
export const findShop = (slug: string): Shop | undefined => shops.find((shop) => shop.slug === slug);
export const clearsAfterMs = (merchantId: string): number | undefined =>
  shops.find((shop) => shop.merchant.id === merchantId)?.clearsAfterMs;

function merchant(id: string, name: string, mcc: string): Merchant {
  return { id, name, mcc, country: 'DE' };
}
