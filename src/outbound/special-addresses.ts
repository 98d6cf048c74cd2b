/**
 * Address blocks that are not global unicast: IANA's special-purpose registries for IPv4 and, inside 2000::/3, for
 * IPv6, with their names for error messages. Data only; address-rules.ts evaluates addresses.
 * @module
 */
export type Block = readonly [cidr: string, what: string];

export const specialIpv4: readonly Block[] = [
  ['0.0.0.0/8', 'is not an address of a host'],
  ['10.0.0.0/8', 'is private'],
  ['100.64.0.0/10', 'is carrier-grade NAT space'],
  ['127.0.0.0/8', 'is loopback'],
  ['168.63.129.16/32', 'is a cloud metadata address'], // A unicast address that Azure answers inside every machine.
  ['169.254.0.0/16', 'is link-local, where cloud metadata lives'],
  ['172.16.0.0/12', 'is private'],
  ['192.0.0.0/24', 'is reserved for protocols'],
  ['192.0.2.0/24', 'is reserved for documentation'],
  ['192.31.196.0/24', 'is reserved for AS112'],
  ['192.52.193.0/24', 'is reserved for multicast tunnels'],
  ['192.88.99.0/24', 'is a 6to4 relay address'],
  ['192.168.0.0/16', 'is private'],
  ['192.175.48.0/24', 'is reserved for AS112'],
  ['198.18.0.0/15', 'is reserved for benchmarks'],
  ['198.51.100.0/24', 'is reserved for documentation'],
  ['203.0.113.0/24', 'is reserved for documentation'],
  ['224.0.0.0/4', 'is multicast'],
  ['240.0.0.0/4', 'is reserved'],
];

export const specialIpv6: readonly Block[] = [
  ['2001::/23', 'is reserved for protocols'],
  ['2001:db8::/32', 'is reserved for documentation'],
  ['2620:4f:8000::/48', 'is reserved for AS112'],
  ['3fff::/20', 'is reserved for documentation'],
];

/** Names that only ever mean this machine, this network or the cloud's metadata, with everything below them. */
export const localNames: readonly Block[] = [
  ['localhost', 'is this machine'],
  ['localdomain', 'is a local name'],
  ['local', 'is a local name'],
  ['docker.internal', 'is the machine that runs the container'],
  ['internal', 'is an internal name, where cloud metadata lives'],
  ['home.arpa', 'is a local name'],
  ['metadata.goog', 'is a cloud metadata name'],
  ['metadata.tencentyun.com', 'is a cloud metadata name'],
  ['metadata.platformequinix.com', 'is a cloud metadata name'],
  ['metadata.packet.net', 'is a cloud metadata name'],
];

/** Of these, the names of the developer's own machine and network; a sandbox may allow them. */
export const ownNetworkNames: readonly string[] = ['localhost', 'localdomain', 'local', 'home.arpa', 'docker.internal'];

/** Ports above 1023 behind which no web receiver lives: databases, brokers, consoles, and what browsers block. */
export const blockedPorts: ReadonlySet<number> = new Set([
  1080, 1433, 1521, 1719, 1720, 1723, 1883, 2049, 2181, 2375, 2376, 2379, 2380, 3128, 3306, 3389, 3659, 4045, 4190,
  4369, 5060, 5061, 5432, 5433, 5555, 5672, 5900, 5901, 5984, 5985, 5986, 6000, 6001, 6379, 6380, 6443, 6566, 6665,
  6666, 6667, 6668, 6669, 6679, 6697, 7000, 7001, 7233, 7234, 7235, 8500, 8649, 9000, 9042, 9092, 9160, 9200, 9300,
  9418, 10080, 10250, 10255, 11211, 15672, 16379, 26379, 27017, 27018, 27019, 28017, 50070, 54329, 61616,
]);
