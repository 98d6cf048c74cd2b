/** The operations of card controls as published. Wire shapes only. @module */
import * as z from 'zod';
import { defineArea } from '../../../http/route.ts';
import { atLeastOneField, country, id, idOut, instantOut, mcc, text } from '../../../http/schemas.ts';

const list = <Item extends z.ZodType>(item: Item, example: string, description: string) =>
  z
    .array(item)
    .max(200)
    .meta({ description, examples: [[example]] });

const lists = {
  allowedMerchants: list(
    text(200),
    'Example Books',
    'names, ids or domains with their subdomains, in either case; empty = every merchant',
  ),
  blockedMerchants: list(text(200), 'Example Casino', 'the same, and what resembles them'),
  allowedCountries: list(country, 'DE', 'ISO 3166-1 alpha-2; empty = everywhere'),
  blockedCountries: list(country, 'US', 'ISO 3166-1 alpha-2'),
  allowedMccs: list(mcc, '5942', 'merchant category codes (ISO 18245); empty = all'),
  blockedMccs: list(mcc, '7995', 'merchant category codes (ISO 18245)'),
};

const some = z.strictObject(lists).partial();

const listOut = (example: string, description: string) =>
  z.array(z.string()).meta({ description, examples: [[example]] });

export const cardControlsOut = z
  .strictObject({
    cardId: idOut('card'),
    allowedMerchants: listOut('Example Books', 'names, ids or domains; empty = every merchant'),
    blockedMerchants: listOut('Example Casino', 'names, ids or domains'),
    allowedCountries: listOut('DE', 'ISO 3166-1 alpha-2; empty = everywhere'),
    blockedCountries: listOut('US', 'ISO 3166-1 alpha-2'),
    allowedMccs: listOut('5942', 'merchant category codes; empty = all'),
    blockedMccs: listOut('7995', 'merchant category codes'),
    updatedAt: instantOut.nullable().meta({ description: 'the last change; null where nothing was ever set' }),
  })
  .meta({ id: 'CardControls', description: 'What a card allows and blocks beside the policy. Empty: no such rule.' });
export type CardControlsWire = z.infer<typeof cardControlsOut>;

const one = { path: '/{cardId}/controls', params: z.strictObject({ cardId: id('card') }) } as const;
const answer = { status: 200, body: cardControlsOut } as const;
const change = {
  ...one,
  auth: ['key'],
  success: answer,
  refusals: ['invalid_state', 'not_found'],
  fires: ['card.details_changed'],
} as const;

export const cardControlsArea = defineArea({
  tag: 'Card Controls',
  base: '/cards',
  aliases: [],
  description:
    'Merchants, categories and countries that one card allows or blocks, beside the policy of its agent. Both count: a charge passes only where neither objects, and a block beats a permission. The next decision evaluates a change. A card that takes the place of another keeps them.',
  operations: {
    getCardControls: {
      ...one,
      method: 'get',
      summary: 'The controls of a card',
      auth: ['key', 'agent'],
      scope: 'cards.read',
      success: answer,
      refusals: ['agent_isolation', 'not_found'],
    },
    replaceCardControls: {
      ...change,
      method: 'put',
      summary: 'Set all controls of a card',
      description:
        'A list that is left out becomes empty. A value that is both allowed and blocked is 400, and so is a closed card. What is set already is no change and fires no event.',
      body: some,
    },
    updateCardControls: {
      ...change,
      method: 'patch',
      summary: 'Set some controls of a card',
      description:
        'A list that is left out stays. A value that is both allowed and blocked afterwards is 400, and so is a closed card.',
      body: some.refine(...atLeastOneField).meta({ minProperties: 1 }),
    },
    deleteCardControls: {
      ...change,
      method: 'delete',
      summary: 'Remove all controls of a card',
      description: 'Answers with the empty lists. A card without controls is no error; a closed card is 400.',
    },
  },
});
