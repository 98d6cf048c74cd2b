/**
 * Keeps rows in the states in which the product's own steps have brought them: PostgreSQL lets a row go no further until
 * its stop is taken away. `waits` keeps the transaction open, so that its process can be killed inside it; `fails` ends
 * it with an error each time. Triggers of the caller call `test_stop(subject, at)` where a row can be stopped.
 * @module
 */
import type { Installation } from '../support/installation.ts';
import { eventually } from '../support/world.ts';

const schema = `
  create table test_stops (subject text not null, at text not null, waits boolean not null);
  create function test_stop(of_subject text, wanted text) returns void language plpgsql security definer as $$
  begin
    if exists (select from test_stops where subject = of_subject and at = wanted and not waits) then
      raise exception 'stopped by a test before %', wanted;
    end if;
    while exists (select from test_stops where subject = of_subject and at = wanted and waits) loop
      perform pg_sleep(0.02);
    end loop;
  end $$;`;

/** `At`: the places that the triggers know. */
export async function openStops<At extends string>(site: Installation, triggers: string) {
  await site.sql(`${schema}${triggers}`);
  const stop = async (subject: string, waits: boolean, places: readonly At[]): Promise<void> => {
    await site.sql('insert into test_stops select $1, unnest($2::text[]), $3', [subject, places, waits]);
  };
  return {
    fails: (subject: string, ...places: readonly At[]) => stop(subject, false, places),
    waits: (subject: string, ...places: readonly At[]) => stop(subject, true, places),
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
export type Stops<At extends string> = Awaited<ReturnType<typeof openStops<At>>>;
