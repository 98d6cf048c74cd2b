/** Where a transfer to a bank account can be stopped (stops.ts): it is named by its reference. @module */
import type { Installation } from '../support/installation.ts';
import { openStops, type Stops } from './stops.ts';

/** The stage that is not reached, or the figure that is not noted. */
export type StoppedAt =
  | 'pending_approval'
  | 'approved'
  | 'sending'
  | 'submitted'
  | 'accepted'
  | 'expired'
  | 'reminded'
  | 'recall requested'
  | 'window closed';

const triggers = `
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

export const openTransferStops = (site: Installation): Promise<TransferStops> => openStops<StoppedAt>(site, triggers);
export type TransferStops = Stops<StoppedAt>;
