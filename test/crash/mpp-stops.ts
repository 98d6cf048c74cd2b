/**
 * Keeps a machine payment in the state in which the product's own steps have brought it: PostgreSQL lets the row go no
 * further until the stop is taken away. `waits` keeps the transaction open, so that its process can be killed inside it;
 * `fails` ends it with an error each time.
 * @module
 */
import type { Installation } from '../support/installation.ts';
import { eventually } from '../support/world.ts';

/** The state that is not reached, of the payment or of its credential; `sent`: the credential does not leave. */
export type StoppedAt =
  | 'challenged'
  | 'minted'
  | 'presenting'
  | 'sent'
  | 'accepted'
  | 'unknown'
  | 'paid'
  | 'declined'
  | 'refused'
  | 'credential minted';

const schema = `
  create table test_stops (intent_id text not null, at text not null, waits boolean not null);
  create function test_stop(of_intent text, wanted text) returns void language plpgsql security definer as $$
  begin
    if exists (select from test_stops where intent_id = of_intent and at = wanted and not waits) then
      raise exception 'stopped by a test before %', wanted;
    end if;
    while exists (select from test_stops where intent_id = of_intent and at = wanted and waits) loop
      perform pg_sleep(0.02);
    end loop;
  end $$;
  create function test_stop_transition() returns trigger language plpgsql security definer as $$
  begin
    if new.noun = 'mpp_payment' then
      perform test_stop((select intent_id from mpp_payments where id = new.row_id), new.to_status);
    elsif new.noun = 'mpp_credential' then
      perform test_stop((select intent_id from mpp_credentials where id = new.row_id), 'credential ' || new.to_status);
    end if;
    return new;
  end $$;
  create trigger test_stops before insert on transitions for each row execute function test_stop_transition();
  create function test_stop_send() returns trigger language plpgsql security definer as $$
  begin
    perform test_stop(new.intent_id, 'sent');
    return new;
  end $$;
  create trigger test_stops before update on mpp_payments for each row
    when (old.sent_at is null and new.sent_at is not null) execute function test_stop_send();`;

export async function openStops(site: Installation) {
  await site.sql(schema);
  const stop = async (intentId: string, waits: boolean, places: readonly StoppedAt[]): Promise<void> => {
    await site.sql('insert into test_stops select $1, unnest($2::text[]), $3', [intentId, places, waits]);
  };
  return {
    fails: (intentId: string, ...places: readonly StoppedAt[]) => stop(intentId, false, places),
    waits: (intentId: string, ...places: readonly StoppedAt[]) => stop(intentId, true, places),
    /** So many transactions stand still. */
    areWaiting: (count: number) =>
      eventually(
        () => site.sql(`select pid from pg_stat_activity where wait_event = 'PgSleep'`),
        (waiting) => waiting.length === count,
      ),
    /** All rows go on. */
    end: () => site.sql('delete from test_stops'),
  };
}
export type Stops = Awaited<ReturnType<typeof openStops>>;
