-- Whether a passkey has to stand by an intent the policy in force says; what the row said when it was declared nobody read.
alter table intents drop column needs_attestation;
