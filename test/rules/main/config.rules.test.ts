/** Goal: all errors of an environment are reported at once, and its values are never repeated. Method: examples. @module */
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { readConfig } from '../../../src/main/config.ts';

const right = {
  DATABASE_URL: 'postgres://u:p@127.0.0.1/db',
  BURSAR_VAULT_KEY: 'x'.repeat(44),
  BURSAR_SIGNING_KEY: '-----BEGIN PRIVATE KEY-----\n…',
  BURSAR_SANDBOX_URL: 'http://127.0.0.1:8401',
};

test('one error names everything that is wrong, and no value of it', () => {
  const wrong = {
    ...right,
    DATABASE_URL: 'mysql://secret-password@host',
    PORT: 'eighty',
    BURSAR_DASHBOARD_SECRET: 'too-short-secret',
    BURSAR_ALLOWED_ORIGINS: 'http://a.example/path',
    BURSAR_MODE: 'production',
  };
  const message = (() => {
    try {
      readConfig(wrong);
      return 'accepted';
    } catch (error) {
      return (error as Error).message;
    }
  })();
  for (const name of ['DATABASE_URL', 'PORT', 'BURSAR_ALLOWED_ORIGINS', 'BURSAR_MODE'])
    expect(message).toContain(`${name}: `);
  expect(message).not.toMatch(/secret-password|too-short-secret|a\.example/);
});

test('a missing setting is reported as missing', () => {
  expect(() => readConfig({})).toThrow(/DATABASE_URL: is missing[\s\S]*BURSAR_VAULT_KEY: is missing/);
});

test('a short dashboard secret and a sandbox without its world are refused', () => {
  expect(() => readConfig({ ...right, BURSAR_DASHBOARD_SECRET: 'short' })).toThrow(
    /BURSAR_DASHBOARD_SECRET: must be at least 32/,
  );
  expect(() => readConfig({ ...right, BURSAR_SANDBOX_URL: '' })).toThrow(
    /BURSAR_SANDBOX_URL: is needed in sandbox mode/,
  );
});

test('events are kept at least as long as deliveries, which are read and made again with them', () => {
  const days = (events: string, deliveries: string) =>
    readConfig({ ...right, BURSAR_EVENTS_KEPT_DAYS: events, BURSAR_DELIVERIES_KEPT_DAYS: deliveries });
  expect(() => days('100', '101')).toThrow(/BURSAR_EVENTS_KEPT_DAYS: must be at least BURSAR_DELIVERIES_KEPT_DAYS/);
  expect(days('100', '100').BURSAR_EVENTS_KEPT_DAYS).toBe(100);
});

test('in live mode a request keeps its key for longer than it may take', () => {
  const live = { ...right, BURSAR_MODE: 'live', BURSAR_ALLOW_SIMULATED: 'true' };
  const lease = (seconds: string, more: object = live) =>
    readConfig({ ...more, BURSAR_IDEMPOTENCY_LEASE_SECONDS: seconds }).BURSAR_IDEMPOTENCY_LEASE_SECONDS;
  expect(() => lease('29')).toThrow(/BURSAR_IDEMPOTENCY_LEASE_SECONDS: must be at least 30 in live mode/);
  expect([lease('30'), lease('5', right)]).toEqual([30, 5]);
});

test('live refuses simulators and approvals by signal unless they are switched on', () => {
  const live = { ...right, BURSAR_MODE: 'live' };
  expect(() => readConfig(live)).toThrow(/live refuses one unless BURSAR_ALLOW_SIMULATED=true/);
  const allowed = readConfig({ ...live, BURSAR_ALLOW_SIMULATED: 'true' });
  expect(allowed.signalsMayApprove).toBe(false);
  expect(readConfig({ ...live, BURSAR_ALLOW_SIMULATED: 'true', BURSAR_SIGNAL_APPROVALS: 'on' }).signalsMayApprove).toBe(
    true,
  );
  expect(readConfig(right).signalsMayApprove).toBe(true);
});

test('live accepts approvals by signal only with BURSAR_SIGNAL_APPROVALS=on, with every kind of authentication at Temporal', () => {
  const live = { ...right, BURSAR_MODE: 'live', BURSAR_ALLOW_SIMULATED: 'true' };
  const file = fileURLToPath(import.meta.url);
  const certificate = { TEMPORAL_TLS_CLIENT_CERT_PATH: file, TEMPORAL_TLS_CLIENT_KEY_PATH: file };
  const mayApprove = (more: Record<string, string>) => readConfig({ ...live, ...more }).signalsMayApprove;
  // Bursar's key or certificate does not say who sent a signal.
  expect(mayApprove({ TEMPORAL_API_KEY: 'key' })).toBe(false);
  expect(mayApprove(certificate)).toBe(false);
  expect(mayApprove({ TEMPORAL_API_KEY: 'key', BURSAR_SIGNAL_APPROVALS: 'on' })).toBe(true);
  expect(mayApprove({ TEMPORAL_API_KEY: 'key', BURSAR_SIGNAL_APPROVALS: 'off' })).toBe(false);
  expect(mayApprove({ TEMPORAL_TLS_SERVER_CA_CERT_PATH: file })).toBe(false);
  expect(mayApprove({ TEMPORAL_TLS_SERVER_NAME: 'temporal.example' })).toBe(false);
});

test('half a certificate, and a file that is not there, are refused by name', () => {
  const file = fileURLToPath(import.meta.url);
  expect(() => readConfig({ ...right, TEMPORAL_TLS_CLIENT_CERT_PATH: file })).toThrow(/_KEY_PATH are needed together/);
  expect(() => readConfig({ ...right, TEMPORAL_TLS_SERVER_CA_CERT_PATH: '/nowhere/ca.pem' })).toThrow(
    'TEMPORAL_TLS_SERVER_CA_CERT_PATH names /nowhere/ca.pem, which cannot be read (ENOENT)',
  );
  expect(readConfig(right).temporalSecurity).toEqual({});
});

test('several instances share the rate limit', () => {
  const config = readConfig({ ...right, BURSAR_RATE_LIMIT_PER_MINUTE: '100', BURSAR_INSTANCES: '3' });
  expect(config.ratePerMinute).toBe(33);
});

test('a worker takes both queues and all loops unless some are named', () => {
  expect(readConfig(right)).toMatchObject({
    BURSAR_WORKER_QUEUES: ['main', 'webhooks'],
    BURSAR_WORKER_LOOPS: ['relay', 'deliveries', 'sealer', 'purge'],
  });
  expect(readConfig(right).BURSAR_METRICS_PORT).toBeUndefined();
  const some = { BURSAR_WORKER_QUEUES: 'webhooks', BURSAR_WORKER_LOOPS: 'relay, sealer', BURSAR_METRICS_PORT: '9464' };
  expect(readConfig({ ...right, ...some })).toMatchObject({
    BURSAR_WORKER_QUEUES: ['webhooks'],
    BURSAR_WORKER_LOOPS: ['relay', 'sealer'],
    BURSAR_METRICS_PORT: 9464,
  });
  expect(() => readConfig({ ...right, BURSAR_WORKER_LOOPS: 'relay,purges' })).toThrow(/BURSAR_WORKER_LOOPS/);
});
