/**
 * The verbs of operation ids: verb and noun, `createAgent`. The same action has the same verb in every area. A new
 * verb is added here with its meaning; a test compares the table with the operation ids.
 * @module
 */
export const verbs = {
  list: 'reads several records, in pages where their number has no limit',
  get: 'reads one record, or one report',
  create: 'makes a record',
  update: 'changes fields of a record',
  replace: 'sets every field of a record; what is left out becomes empty',
  delete: 'removes a record for good',
  revoke: 'makes a credential invalid; its record stays',
  close: 'ends an agent, a card or a wallet; its record stays',
  freeze: 'stops payments until an unfreeze',
  unfreeze: 'ends a freeze',
  fund: 'adds money to a wallet, or to the budget of an agent',
  issue: 'orders a card from the card processor',
  rotate: 'gives a card another number, or replaces a key',
  apply: 'replaces the rules of a policy by those of another or of a preset',
  toggle: 'switches one yes-or-no rule',
  simulate: 'evaluates, or has the sandbox do, what a real payment would cause',
  declare: 'states what an agent wants to pay for, and evaluates it',
  activate: 'puts a key in force whose holder the caller has proven to be',
  request: 'asks for a decision that is made at once and recorded',
  approve: 'permits what waits for a person',
  deny: 'refuses what waits for a person',
  cancel: 'ends a record that is not final',
  attest: 'confirms an open intent with a passkey',
  verify: 'compares records with each other and reports differences',
  start: 'begins a ceremony of two calls',
  finish: 'ends a ceremony of two calls',
  execute: 'pays at a shop',
  handle: 'declares what a demand for payment asks for',
  mint: 'makes a credential that pays once',
  pay: 'pays for a resource that a merchant sells by HTTP 402',
  resolve: 'settles a payment whose outcome is unknown',
  consume: 'uses a credential up, for the merchant that it was minted for',
  confirm: 'reports that the payment happened elsewhere',
  authorize: 'asks for a decision and a hold',
  clear: 'collects held money',
  reverse: 'gives held money back',
  dismiss: 'notes that a match with a sanctions list is somebody else',
  receive: 'takes a file of a bank',
  assign: 'gives money without an owner to a wallet',
  advance: 'moves the business time of a sandbox forward',
} as const satisfies Record<string, string>;

export type Verb = keyof typeof verbs;
