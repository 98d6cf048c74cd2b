-- Secrets whose overlap is over are wiped; few subscriptions have one.
create index webhooks_ended_secrets on webhooks (previous_secret_until) where previous_secret_until is not null;
