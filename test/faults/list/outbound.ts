/** Faults in the guard of outbound requests. @module */
import { type Fault, faultsIn } from '../fault.ts';

const address = ['test/outbound/address-rules'];
const outbound = ['test/outbound/outbound'];

export const outboundFaults: readonly Fault[] = [
  ...faultsIn('outbound', 'src/outbound/address-rules.ts', address, [
    {
      from: 'if (address.match(mapped) || address.match(nat64)) return [at(12)];',
      to: 'if (address.match(mapped)) return [at(12)];',
      harm: 'a NAT64 address reaches a private network',
    },
    {
      from: 'if (address.match(sixToFour)) return [at(2)];',
      to: '',
      harm: 'a 6to4 address reaches a private network',
    },
    {
      from: 'return [at(4), at(12, 0xff)]; // The server',
      to: 'return [at(4)]; // The server',
      harm: 'a Teredo address reaches a private client',
    },
    {
      from: "if (url.username !== '' || url.password !== '') return no(",
      to: "if (url.password !== '') return no(",
      harm: 'a URL with a user name misleads who reads it',
    },
    {
      from: 'if (Number(port) > 1023 && !blockedPorts.has(Number(port))) return undefined;',
      to: 'if (Number(port) > 1023) return undefined;',
      harm: 'a request goes to a database or a mail server',
    },
    {
      from: "if (url.protocol === 'http:' && (requireHttps === 'always' || (requireHttps && !isAllowedOrigin))) {",
      to: "if (url.protocol === 'http:' && requireHttps === 'always') {",
      harm: 'a credential is sent without TLS',
    },
    {
      from: "const withoutFinalDot = (host: string): string => host.replace(/\\.$/, '');",
      to: 'const withoutFinalDot = (host: string): string => host;',
      harm: '`localhost.` is connected to',
    },
    {
      from: "if (address.zoneId !== undefined && address.zoneId !== '') return refused(",
      to: "if (address.zoneId === 'lo') return refused(",
      harm: 'an address with a zone leaves by a chosen interface',
    },
    {
      from: "if (!host.includes('.')) return `the host",
      to: "if (host === '') return `the host",
      harm: 'a name of the operator’s own network is connected to',
    },
  ]),
  ...faultsIn(
    'outbound',
    'src/supervisor/node-options.ts',
    ['test/outbound/kept-memory'],
    [
      {
        from: "  '--no-allocation-site-pretenuring',\n",
        to: '',
        harm: 'each request is kept in memory until the old generation is collected',
      },
    ],
  ),
  ...faultsIn('outbound', 'src/outbound/outbound.ts', outbound, [
    {
      from: 'const refusal = addresses.map(refusalOf(host)).find((error) => error !== undefined);',
      to: 'const refusal = addresses.slice(0, 1).map(refusalOf(host)).find((error) => error !== undefined);',
      harm: 'a name with a public and a private address connects to the private one',
    },
    {
      from: 'if (length <= maxBytes) return;',
      to: 'return;',
      harm: 'an answer without end fills the memory',
    },
    {
      from: 'deadline.passed = reason;',
      to: 'return;',
      harm: 'a name that never resolves keeps a step beyond its deadline',
    },
    {
      from: 'if (!options.isRepeatable || !error.isStaleConnection) throw error;',
      to: 'if (!error.isStaleConnection) throw error;',
      harm: 'a payment is sent twice over a connection that died',
    },
    {
      from: 'const dispatcher = isAllowedOrigin ? allowed : guarded;',
      to: 'const dispatcher = allowed;',
      harm: 'a name is connected to wherever it resolves',
    },
  ]),
];
