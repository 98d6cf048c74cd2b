-- The intents that may pay for a charge of a card. Neither a match nor a payment of one touches what it indexes.
create index intents_payable on intents (card_id) where status = 'approved';
