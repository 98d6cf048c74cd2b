/** Where a machine payment can be stopped (stops.ts): it is named by its intent. @module */
import type { Installation } from '../support/installation.ts';
import { openStops, type Stops } from './stops.ts';

/** The state that is not reached, of the payment or of its credential. With `presenting` the credential leaves. */
export type StoppedAt =
  | 'challenged'
  | 'minted'
  | 'presenting'
  | 'accepted'
  | 'unknown'
  | 'paid'
  | 'declined'
  | 'refused'
  | 'credential minted';

const triggers = `
  create function test_stop_transition() returns trigger language plpgsql security definer as $$
  begin
    if new.noun = 'mpp_payment' then
      perform test_stop((select intent_id from mpp_payments where id = new.row_id), new.to_status);
    elsif new.noun = 'mpp_credential' then
      perform test_stop((select intent_id from mpp_credentials where id = new.row_id), 'credential ' || new.to_status);
    end if;
    return new;
  end $$;
  create trigger test_stops before insert on transitions for each row execute function test_stop_transition();`;

export const openMppStops = (site: Installation): Promise<MppStops> => openStops<StoppedAt>(site, triggers);
export type MppStops = Stops<StoppedAt>;
