-- A credential that nobody has used is revoked when its intent is cancelled.
alter table mpp_credentials drop constraint mpp_credentials_status_check;
alter table mpp_credentials add constraint mpp_credentials_status_check
  check (status in ('requested', 'minted', 'consumed', 'expired', 'declined', 'refused', 'revoked'));
-- Also one whose token is still being minted.
alter table mpp_credentials drop constraint mpp_credentials_check;
alter table mpp_credentials add constraint mpp_credentials_check
  check (status in ('requested', 'refused', 'expired', 'revoked') or token_hash is not null);
