/**
 * The tests that a run with `CI` set may skip, because the machine lacks what they need. Every other skipped test fails
 * such a run. `name`: only the tests so named.
 * @module
 */
export const maySkip: readonly { readonly file: RegExp; readonly name?: RegExp; readonly reason: string }[] = [
  { file: /\.browser\.test\.ts$/, reason: 'needs Chromium' },
  { file: /test\/api\/platform\/answers\.api\.test\.ts$/, reason: 'one test needs Chromium' },
  { file: /test\/third-parties\/mpp-wire\.test\.ts$/, reason: 'one test needs the openssl command' },
  { file: /test\/workflows\/delivery\/tls-receivers\.workflow\.test\.ts$/, reason: 'needs the openssl command' },
  { file: /test\/secrets\/temporal-key\.test\.ts$/, reason: 'needs the openssl command' },
  { file: /test\/workflows\/operator\/temporal-security\.workflow\.test\.ts$/, reason: 'needs the openssl command' },
  {
    file: /test\/third-parties\/webhook-receivers\.test\.ts$/,
    name: /(Python|Ruby|Java)$/,
    reason: 'those in Python, Ruby and Java need a package of their registries',
  },
  { file: /test\/local\/linearizability\.test\.ts$/, reason: 'needs Go, and its module Porcupine' },
  { file: /test\/local\/postgres\.test\.ts$/, reason: 'needs the system user root' },
];
