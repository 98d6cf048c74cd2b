/** A corpus of addresses and URLs: what is private in any spelling is refused, what is public passes. @module */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { checkAddress, checkUrl, longestUrl, readAllowedOrigin } from '../../src/outbound/address-rules.ts';

const refusedAddresses = [
  ['0.0.0.0', /not an address/],
  ['0.1.2.3', /not an address/],
  ['10.0.0.1', /private/],
  ['10.255.255.255', /private/],
  ['100.64.0.1', /carrier/],
  ['100.100.100.200', /carrier/],
  ['100.127.255.255', /carrier/],
  ['127.0.0.1', /loopback/],
  ['127.255.255.254', /loopback/],
  ['168.63.129.16', /metadata/],
  ['169.254.0.1', /link-local/],
  ['169.254.169.254', /metadata/],
  ['172.16.0.1', /private/],
  ['172.31.255.255', /private/],
  ['192.0.0.1', /protocols/],
  ['192.0.0.192', /protocols/],
  ['192.0.2.1', /documentation/],
  ['192.31.196.1', /AS112/],
  ['192.52.193.1', /tunnels/],
  ['192.88.99.1', /6to4/],
  ['192.168.0.1', /private/],
  ['192.168.255.255', /private/],
  ['192.175.48.6', /AS112/],
  ['198.18.0.1', /benchmarks/],
  ['198.19.255.255', /benchmarks/],
  ['198.51.100.7', /documentation/],
  ['203.0.113.9', /documentation/],
  ['224.0.0.1', /multicast/],
  ['239.255.255.250', /multicast/],
  ['240.0.0.1', /reserved/],
  ['255.255.255.255', /reserved/],
  ['::', /global unicast/],
  ['::1', /global unicast/],
  ['::127.0.0.1', /loopback/],
  ['::a00:1', /global unicast/],
  ['::ffff:127.0.0.1', /carries 127\.0\.0\.1/],
  ['::ffff:7f00:1', /carries 127\.0\.0\.1/],
  ['0:0:0:0:0:ffff:a9fe:a9fe', /carries 169\.254\.169\.254/],
  ['::ffff:0:10.0.0.1', /global unicast/],
  ['64:ff9b::10.0.0.1', /carries 10\.0\.0\.1/],
  ['64:ff9b::a9fe:a9fe', /carries 169\.254/],
  ['64:ff9b:1::1', /global unicast/],
  ['100::1', /global unicast/],
  ['fc00::1', /global unicast/],
  ['fd00:ec2::254', /global unicast/],
  ['fe80::1', /global unicast/],
  ['fe80::1%eth0', /zone/],
  ['fec0::1', /global unicast/],
  ['ff02::1', /global unicast/],
  ['5f00::1', /global unicast/],
  ['4000::1', /global unicast/],
  ['2001:db8::1', /documentation/],
  ['2001:2::1', /protocols/],
  ['2001:10::1', /protocols/],
  ['2001:20::1', /protocols/],
  ['2001:1ff:ffff::1', /protocols/],
  ['2620:4f:8000::1', /AS112/],
  ['3fff::1', /documentation/],
  ['2002:7f00:1::1', /carries 127\.0\.0\.1/],
  ['2002:a00:1::', /carries 10\.0\.0\.1/],
  ['2002:c0a8:101::1', /carries 192\.168\.1\.1/],
  ['2001:0:a00:1::f7f7:f7f7', /carries 10\.0\.0\.1/],
  ['2001:0:808:808::f5ff:fffe', /carries 10\.0\.0\.1/],
  ['2a00:1450::5efe:10.0.0.1', /carries 10\.0\.0\.1/],
  ['2a00:1450::200:5efe:7f00:1', /carries 127\.0\.0\.1/],
  ['fe80::5efe:8.8.8.8', /global unicast/],
  ['', /not an IP/],
  ['localhost', /not an IP/],
  ['127.1', /not an IP/],
  ['0x7f000001', /not an IP/],
  ['10.0.0.1/8', /not an IP/],
] as const;

const publicAddresses = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2000::1',
  '2001:200::1',
  '2001:4860:4860::8888',
  '2606:4700:4700::1111',
  '2a00:1450:4001::1',
  '::ffff:8.8.8.8',
  '64:ff9b::8.8.8.8',
  '2002:808:808::1',
  '2001:0:808:808::f7f7:f7f7',
  '2a00:1450::5efe:8.8.8.8',
  '3ffe::1',
];

describe('addresses', () => {
  test.each(refusedAddresses)('%s is refused', (ip, why) => {
    const evaluation = checkAddress(ip);
    expect(evaluation.ok ? 'passed' : evaluation.why).toMatch(why);
  });

  test.each(publicAddresses)('%s passes', (ip) => {
    expect(checkAddress(ip)).toEqual({ ok: true });
  });

  test('an IPv4 address has the same evaluation in every IPv6 form', () => {
    fc.assert(
      fc.property(fc.ipV4(), (ip) => {
        const [a = 0, b = 0, c = 0, d = 0] = ip.split('.').map(Number);
        const hex = [(a << 8) | b, (c << 8) | d].map((part) => part.toString(16)).join(':');
        const plain = checkAddress(ip).ok;
        for (const form of [`::ffff:${ip}`, `64:ff9b::${ip}`, `2002:${hex}::1`, `2a00:1450::5efe:${ip}`]) {
          expect({ form, ok: checkAddress(form).ok }).toEqual({ form, ok: plain });
        }
      }),
    );
  });

  // spec: url-rule:3
  test('nothing inside a private block passes', () => {
    const inBlock = fc.oneof(
      fc.tuple(fc.constant(10), fc.nat(255)),
      fc.tuple(fc.constant(127), fc.nat(255)),
      fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 })),
      fc.constant([192, 168] as const),
      fc.constant([169, 254] as const),
    );
    fc.assert(
      fc.property(inBlock, fc.nat(255), fc.nat(255), ([a, b], c, d) => {
        expect(checkAddress(`${a}.${b}.${c}.${d}`).ok).toBe(false);
      }),
    );
  });
});

const refusedUrls = [
  ['ftp://example.com/', /scheme is ftp/],
  ['file:///etc/passwd', /scheme is file/],
  ['gopher://example.com/', /gopher/],
  ['javascript:alert(1)', /scheme/],
  ['data:text/plain,x', /scheme/],
  ['ws://example.com', /scheme is ws/],
  ['example.com/hook', /cannot be read/],
  ['//example.com', /cannot be read/],
  ['', /cannot be read/],
  ['http://', /cannot be read/],
  ['https://exa mple.com', /space/],
  [' https://example.com', /space/],
  ['https://example.com/\n', /space/],
  ['https://exam\tple.com', /space/],
  ['https:\\\\example.com\\', /backslash/],
  ['https://example.com\u0000', /control/],
  ['https://user@example.com/', /user name/],
  ['https://user:pass@example.com/', /user name/],
  ['https://example.com@127.0.0.1/', /user name/],
  ['https://:x@example.com', /user name/],
  ['http://localhost/', /this machine/],
  ['http://LOCALHOST./', /this machine/],
  ['http://a.b.localhost/', /this machine/],
  ['http://localhost.localdomain/', /local name/],
  ['http://printer.local/', /local name/],
  ['http://host.docker.internal/', /machine that runs the container/],
  ['http://router.home.arpa', /local/],
  ['http://metadata.google.internal/computeMetadata/v1/', /metadata/],
  ['http://metadata.goog/', /metadata/],
  ['http://instance-data.ec2.internal/', /metadata/],
  ['http://metadata.tencentyun.com/', /metadata/],
  ['http://metadata/', /no dot/],
  ['https://intranet/hook', /no dot/],
  ['https://intranet./hook', /no dot/],
  ['https://a..b.com/', /empty part/],
  ['http://127.0.0.1/', /loopback/],
  ['http://127.1/', /127\.0\.0\.1 is loopback/],
  ['http://127.0.0.1./', /loopback/],
  ['http://2130706433/', /loopback/],
  ['http://0x7f000001/', /loopback/],
  ['http://0x7f.0.0.1/', /loopback/],
  ['http://0177.0.0.1/', /loopback/],
  ['http://017700000001/', /loopback/],
  ['http://0/', /not an address/],
  ['http://10.1/', /10\.0\.0\.1 is private/],
  ['http://192.168.257/', /192\.168\.1\.1 is private/],
  ['http://0xa9fea9fe/', /link-local/],
  ['http://2852039166/latest/meta-data/', /link-local/],
  ['http://０１７７.0.0.1/', /loopback/],
  ['http://①②⑦.⓪.⓪.①/', /loopback/],
  ['http://127。0。0。1/', /loopback/],
  ['http://%31%32%37.0.0.1/', /loopback/],
  ['http://256.1.1.1/', /cannot be read/],
  ['http://1.2.3.4.5/', /cannot be read/],
  ['http://[::1]/', /global unicast/],
  ['http://[::]/', /global unicast/],
  ['http://[::ffff:127.0.0.1]/', /loopback/],
  ['http://[::ffff:169.254.169.254]/', /link-local/],
  ['http://[fd00:ec2::254]/', /global unicast/],
  ['http://[fe80::1]/', /global unicast/],
  ['http://[64:ff9b::7f00:1]/', /loopback/],
  ['http://[2002:7f00:1::]/', /loopback/],
  ['http://[fe80::1%25eth0]/', /cannot be read/],
  ['http://100.64.1.1/', /carrier/],
  ['http://198.18.0.1', /benchmarks/],
  ['http://224.0.0.1', /multicast/],
  ['https://example.com:22/', /port 22/],
  ['https://example.com:25/', /port 25/],
  ['https://example.com:0/', /port 0/],
  ['https://example.com:81/', /port 81/],
  ['https://example.com:1023/', /port 1023/],
  ['https://example.com:5432/', /port 5432/],
  ['https://example.com:6379/', /port 6379/],
  ['https://example.com:7233/', /port 7233/],
  ['https://example.com:65536/', /cannot be read/],
  [`https://example.com/${'a'.repeat(longestUrl)}`, /at most 2048/],
  ['http://127.0.0.1:8402/receiver/a', /loopback/],
  ['https://127.0.0.1:8401/receiver/a', /loopback/],
  ['http://localhost:8401/receiver/a', /this machine/],
  ['http://127.0.0.1:8401.evil.example/', /cannot be read/],
  ['http://user@127.0.0.1:8401/', /user name/],
] as const;

const acceptedUrls = [
  'https://example.com',
  'https://example.com/hook?x=1#part',
  'http://example.com/',
  'https://example.com:443/',
  'http://example.com:80/',
  'https://example.com:8443/',
  'https://example.com:3000/',
  'https://hooks.example.co.uk/a/b',
  'https://EXAMPLE.com./x',
  'https://bücher.example/',
  'https://8.8.8.8/',
  'https://[2606:4700:4700::1111]/',
  'https://not-yet-registered.example/',
  'https://localhost.example.com/',
  'https://internal.example.com/',
  'http://127.0.0.1:8401/receiver/a',
  'http://127.1:8401/',
];

describe('URLs', () => {
  const allowedOrigins = ['http://127.0.0.1:8401'];

  test.each(refusedUrls)('%s is refused', (raw, why) => {
    const evaluated = checkUrl(raw, { allowedOrigins });
    expect('refused' in evaluated ? evaluated.refused : 'passed').toMatch(why);
  });

  test.each(acceptedUrls)('%s passes', (raw) => {
    expect(checkUrl(raw, { allowedOrigins })).toHaveProperty('url');
  });

  // spec: url-rule:1
  test('https is demanded of strangers, of allowed origins only on "always"', () => {
    const evaluate = (raw: string, requireHttps: boolean | 'always'): boolean =>
      'url' in checkUrl(raw, { allowedOrigins, requireHttps });
    expect(evaluate('http://example.com/', true)).toBe(false);
    expect(evaluate('https://example.com/', true)).toBe(true);
    expect(evaluate('http://127.0.0.1:8401/', true)).toBe(true);
    expect(evaluate('http://127.0.0.1:8401/', 'always')).toBe(false);
  });

  test('a refusal names the host at most, never path, query or password', () => {
    for (const raw of ['http://user:hunter2@example.com/path-x?key=hunter2', 'http://10.0.0.1/hunter2?q=hunter2']) {
      const evaluated = checkUrl(raw, { allowedOrigins });
      expect('refused' in evaluated && evaluated.refused).not.toContain('hunter2');
    }
  });

  test('only origins can be allowed', () => {
    expect(readAllowedOrigin('http://127.0.0.1:8401')).toBe('http://127.0.0.1:8401');
    expect(readAllowedOrigin('HTTP://LocalHost:8401/')).toBe('http://localhost:8401');
    for (const entry of ['*', 'localhost:8401', 'http://a.example/path', 'http://u@a.example', 'ftp://a.example', '']) {
      expect(() => readAllowedOrigin(entry)).toThrow(/not an origin/);
    }
  });
});
