/** The controls of a card as callers see them. Shapes only. @module */
import type { CardControls } from '../../spending/policies/index.ts';
import type { CardControlsWire } from './card-control.contract.ts';
import { noControls } from './card-control.rules.ts';

export type ControlledCard = {
  readonly id: CardControlsWire['cardId'];
  readonly controls: CardControls | null;
  readonly controlsUpdatedAt: Date | null;
};

export function cardControlsWire({ id, controls, controlsUpdatedAt }: ControlledCard): CardControlsWire {
  const lists = controls ?? noControls;
  return {
    cardId: id,
    allowedMerchants: [...lists.allowedMerchants],
    blockedMerchants: [...lists.blockedMerchants],
    allowedCountries: [...lists.allowedCountries],
    blockedCountries: [...lists.blockedCountries],
    allowedMccs: [...lists.allowedMccs],
    blockedMccs: [...lists.blockedMccs],
    updatedAt: controlsUpdatedAt?.toISOString() ?? null,
  };
}
