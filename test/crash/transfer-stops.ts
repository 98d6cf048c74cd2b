/**
 * Keeps a transfer in the state in which the product's own steps have brought it: PostgreSQL lets the row go no further
 * until the stop is taken away. `waits` keeps the transaction open, so that its process can be killed inside it; `fails`
 * ends it with an error each time. A transfer is named by its reference.
 * @module
 */
import type { Installation } from '../support/installation.ts';
import { eventually } from '../support/world.ts';

/** The stage that is not reached, or the figure that is not noted. */
export type StoppedAt =
  | 'pending_approval'
  | 'approved'
  | 'sending'
  | 'accepted'
  | 'expired'
  | 'reminded'
  | 'recall requested'
  | 'window closed';

const schema = `
  create table test_stops (reference text not null, at text not null, waits boolean not null);
  create function test_stop(of_reference text, wanted text) returns void language plpgsql security definer as $$
  begin
    if exists (select from test_stops where reference = of_reference and at = wanted and not waits) then
      raise exception 'stopped by a test before %', wanted;
    end if;
    while exists (select from test_stops where reference = of_reference and at = wanted and waits) loop
      perform pg_sleep(0.02);
    end loop;
  end $$;
  create function test_stop_transition() returns trigger language plpgsql security definer as $$
  begin
    if new.noun = 'transfer' then
      perform test_stop((select reference from transfers where id = new.row_id), new.to_status);
    end if;
    return new;
  end $$;
  create trigger test_stops before insert on transitions for each row execute function test_stop_transition();
  create function test_stop_figure() returns trigger language plpgsql security definer as $$
  begin
    perform test_stop(new.reference, tg_argv[0]);
    return new;
  end $$;
  create trigger test_stops_reminded before update on transfers for each row
    when (new.reminders > old.reminders) execute function test_stop_figure('reminded');
  create trigger test_stops_recall before update on transfers for each row
    when (old.recall_outcome = 'asking' and new.recall_outcome <> 'asking')
    execute function test_stop_figure('recall requested');
  create trigger test_stops_window before update on transfers for each row
    when (old.closed_at is null and new.closed_at is not null) execute function test_stop_figure('window closed');`;

export async function openStops(site: Installation) {
  await site.sql(schema);
  const stop = async (reference: string, at: StoppedAt, waits: boolean): Promise<void> => {
    await site.sql('insert into test_stops values ($1, $2, $3)', [reference, at, waits]);
  };
  return {
    fails: (reference: string, at: StoppedAt) => stop(reference, at, false),
    waits: (reference: string, at: StoppedAt) => stop(reference, at, true),
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
