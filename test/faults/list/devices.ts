/** Faults in what strangers and push services reach: devices that get notifications, links that enrol a passkey. @module */
import { type Fault, faultsIn } from '../fault.ts';

const push = 'src/domains/delivery/push-subscriptions';
const invitations = 'src/domains/identity/passkey-invitations';
const devices = ['test/api/delivery/push-subscriptions.api'];
const links = ['test/api/identity/passkey-invitations.api'];
const limits = ['test/api/security/limits.api'];

export const deviceFaults: readonly Fault[] = [
  ...faultsIn(
    'devices',
    `${push}/push.rules.ts`,
    ['test/rules/delivery/push'],
    [
      {
        from: 'if (status === 404 || status === 410)',
        to: 'if (status === 404 || status === 410 || status === 403)',
        harm: 'a push service that refuses once ends the subscription of a device',
      },
      {
        from: "return at < expiresAt ? { kind: 'retry', at, deviceWaitsUntil } : { kind: 'failed' };",
        to: "return { kind: 'retry', at, deviceWaitsUntil };",
        harm: 'a device is asked about a request of yesterday',
      },
      {
        from: 'url: link === undefined ? null : new URL(link).pathname',
        to: 'url: link ?? null',
        harm: 'a notification opens an address of another site',
      },
    ],
  ),
  ...faultsIn('devices', `${push}/push-subscription.service.ts`, devices, [
    {
      from: '} else if (passkeyId !== null && known.passkeyId !== passkeyId) {',
      to: '} else if (passkeyId !== null && known.ownerId !== ownerId) {',
      harm: 'an invited person takes over the device of the owner',
      named: 'subscribes with link and passkey',
    },
    {
      from: "  await runSql(tx, 'select lock_limit($1, $2, $2)', ['devices', ownerId]);\n",
      to: '',
      harm: 'an owner subscribes more devices than the limit by requests at once',
      named: 'of 40 devices',
      tests: limits,
    },
    {
      from: "deleteWhere(tx, 'id = $1 and sealed_keys = $2', [id, sealedKeys], cause);",
      to: "deleteWhere(tx, 'id = $1 and owner_id = $2', [id, sealedKeys], cause);",
      harm: 'a device that its push service has forgotten stays for ever',
      named: 'ends the subscription',
    },
    {
      from: "deleteWhere(tx, 'id = $1 and sealed_keys = $2', [id, sealedKeys], cause);",
      to: "deleteWhere(tx, 'id = $1 and $2::text is not null', [id, sealedKeys], cause);",
      harm: 'a late answer about a device ends the subscription that it made meanwhile',
      named: 'stays when a late answer',
    },
    {
      from: "deleteWhere(tx, 'passkey_id = $1', [passkeyId], cause);",
      to: "deleteWhere(tx, 'passkey_id = $1', ['none'], cause);",
      harm: 'a person whose passkey was removed still hears of every request',
      named: 'subscribes with link and passkey',
    },
    {
      from: 'case when $10 then s.key_id else excluded.key_id end',
      to: 's.key_id',
      harm: 'a device that subscribed again after a rotation takes no message any more',
      named: 'after a rotation',
    },
  ]),
  ...faultsIn('devices', `${push}/push-message.service.ts`, devices, [
    {
      from: 'where t.turn <= $2 and',
      to: 'where $2::int > 0 and',
      harm: 'devices that hang delay the notifications of every other owner',
      named: 'do not delay those of another owner',
    },
    {
      from: "         and coalesce(w.lease_until, '-infinity') <= statement_timestamp()\n",
      to: '',
      harm: 'two workers send one notification',
      named: 'are claimed by one of two workers',
    },
    {
      from: 'where id = $1 and attempts = $2 and next_attempt_at is not null returning 1',
      to: 'where id = $1 and $2::int > 0 and next_attempt_at is not null returning 1',
      harm: 'the late result of a worker ends the attempt of another one',
      named: 'ignore the result',
    },
    {
      from: "where next_attempt_at is null and expires_at < clock_timestamp() - interval '6 days'",
      to: "where expires_at < clock_timestamp() + interval '6 days'",
      harm: 'a notification is deleted before it is sent',
      named: 'are kept until',
    },
  ]),
  ...faultsIn('devices', `${push}/push-key.service.ts`, devices, [
    {
      from: '\n     on conflict (is_current) where is_current do nothing`',
      to: '`',
      harm: 'of the first devices that subscribe at once only one can',
      named: 'get one key',
    },
  ]),
  ...faultsIn('devices', 'src/db/functions/announce-to-devices.sql', devices, [
    {
      from: 'where s.owner_id = new.owner_id and v_kind',
      to: 'where v_kind',
      harm: 'a device hears of the requests of every owner',
      named: 'gets an approval once',
    },
    {
      from: "new.data->>'status' is distinct from 'pending_approval' or ",
      to: '',
      harm: 'a device asks for the approval of a transfer that was decided, and of a split that needed none',
      named: 'after the decision',
    },
    {
      from: " or new.data->>'splitId' is not null",
      to: '',
      harm: 'one split asks for an approval for each of its lines',
      named: 'with the others, once',
    },
    {
      from: 'for key share of s skip locked',
      to: 'for key share of s',
      harm: 'an intent cannot be declared while a device is being removed',
      named: 'hold up no request',
    },
  ]),
  ...faultsIn('devices', 'src/usecases/delivery/subscribe-invited-device.ts', devices, [
    {
      from: 'if (passkey.id !== passkeyId) throw ofAnother();',
      to: 'void ofAnother;',
      harm: 'a link subscribes a device with the passkey of another person',
      named: 'subscribes with link and passkey',
    },
    {
      from: 'enrolled.filter(({ id }) => id === invitation.passkeyId);',
      to: 'enrolled.filter(({ id }) => id !== invitation.vouchedBy || id !== undefined);',
      harm: 'the link of a person whose passkey was removed still begins subscriptions',
      named: 'subscribes with link and passkey',
    },
  ]),
  ...faultsIn(
    'devices',
    `${invitations}/invitation.rules.ts`,
    ['test/rules/identity/invitation'],
    [
      {
        from: 'enrolled.some(({ id }) => id === invitation.vouchedBy)',
        to: 'invitation.vouchedBy !== null',
        harm: 'an invitation enrols a passkey after the passkey that confirmed it was removed',
      },
      {
        from: "expiresAt.getTime() <= realNow.getTime() ? 'expired'",
        to: "expiresAt.getTime() < realNow.getTime() ? 'expired'",
        harm: 'an invitation is open at its end',
      },
    ],
  ),
  ...faultsIn('devices', `${invitations}/invitation.service.ts`, links, [
    {
      from: 'onFirstEnrolled: revokeUnconfirmedInvitationsOf }',
      to: 'onFirstEnrolled: async () => undefined }',
      harm: 'a link that a stolen API key made enrols again once the last passkey is removed',
      named: 'ends the invitations that no passkey has confirmed',
    },
    {
      from: "const unconfirmedOf = 'owner_id = $1 and",
      to: "const unconfirmedOf = '$1::text is not null and",
      harm: 'the first passkey of one owner ends the invitations of every other',
      named: 'revokes them for good',
    },
    {
      from: 'refuseUnusable(now, enrolled);',
      to: 'refuseUnusable(invitation, enrolled);',
      harm: 'two people at once enrol with one link',
      named: 'two people at once',
    },
    {
      from: 'if (known?.credentialId === attestation.id) return { done: known };',
      to: 'if (known !== undefined) return { done: known };',
      harm: 'a person whose link another one has used reads that the enrolment succeeded',
      named: 'is enrolled by link alone',
    },
    {
      from: "purpose: 'invite', subjectId: null, terms: name }",
      to: "purpose: 'invite', subjectId: null, terms: null }",
      harm: 'a passkey that confirms one person invites another',
      named: 'needs its assertion',
    },
    {
      from: '  refuseUnusable(invitation, enrolled);\n  refuseFurther(enrolled, cause.at);\n  const matter',
      to: '  refuseFurther(enrolled, cause.at);\n  const matter',
      harm: 'the holder of a revoked link reads which passkeys the owner has',
      named: 'when the owner revokes it',
    },
    {
      from: 'cause.at, later(new Date(), expiresInHours * hour)]',
      to: 'cause.at, later(cause.at, expiresInHours * hour)]',
      harm: 'an invitation lasts longer by what the clock of the sandbox was moved',
      named: 'when its time is over',
    },
    {
      from: '[invitationId, ownerId, name, hashSecret(token), vouchedBy,',
      to: '[invitationId, ownerId, name, token, vouchedBy,',
      harm: 'the link is stored in clear text',
      named: 'is enrolled by link alone',
    },
    {
      from: '    await lockPasskeysOf(tx, ownerId);\n    const known',
      to: '    const known',
      harm: 'an owner makes more invitations than the limit by requests at once',
      named: 'of 40 passkey_invitations',
      tests: limits,
    },
  ]),
  ...faultsIn('devices', `${invitations}/invitation.queries.ts`, links, [
    {
      from: 'where id = $1 and owner_id = $2`',
      to: 'where id = $1 and $2::text is not null`',
      harm: 'an owner revokes the invitation of another owner',
      named: 'when the owner revokes it',
    },
  ]),
];
