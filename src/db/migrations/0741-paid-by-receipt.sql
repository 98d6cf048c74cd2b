-- A merchant's receipt settles a machine payment, like its verification.
alter table mpp_payments drop constraint mpp_payments_charge_source_check;
alter table mpp_payments add constraint mpp_payments_charge_source_check
  check (charge_source in ('network', 'verify', 'receipt', 'operator'));
