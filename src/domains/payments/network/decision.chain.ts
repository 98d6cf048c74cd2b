/** The seals of decisions: ids and codes in clear text, reason, facts and trace as salted commitments. @module */
import { exactInstant, type RecordChain } from '../../../platform/record-chains/record-chain.ts';

export const decisionChain: RecordChain = {
  name: 'decisions',
  noun: 'decision',
  keyType: 'bigint',
  select: `select d.seq as key, d.owner_id,
      jsonb_build_array(d.owner_id, d.transaction_id, d.agent_id, d.card_id, d.intent_id, d.outcome, d.rule, d.policy_id,
        d.policy_version, ${exactInstant('d.at')})::text
        -- What was sealed before there were increments stays as it was sealed.
        || case when d.message_id is null then '' else jsonb_build_array(d.message_kind, d.message_id)::text end as facts,
      null::text as address,
      jsonb_build_array(d.reason, d.facts, d.trace)::text as texts
    from decisions d`,
};
