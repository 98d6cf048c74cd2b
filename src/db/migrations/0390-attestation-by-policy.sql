-- The policy in force decides whether an intent needs an attestation. The column stored the answer at declaration and had no reader.
alter table intents drop column needs_attestation;
