/**
 * Preloaded into the API process by the test of its destinations: writes down every address that is connected to,
 * every name that is looked up, every datagram and every native library that could dial past these hooks.
 * @module
 */
import dgram from 'node:dgram';
import dns from 'node:dns';
import { appendFileSync } from 'node:fs';
import net from 'node:net';

const file = process.env.RECORDED_CONNECTS;
const note = (kind, what) => appendFileSync(file, `${JSON.stringify({ kind, what })}\n`);

const connect = net.Socket.prototype.connect;
net.Socket.prototype.connect = function (...args) {
  // Internal callers pass their arguments already normalised, as one array.
  const [first, second] = Array.isArray(args[0]) ? args[0] : args;
  const to = typeof first === 'object' ? first : { port: first, host: second };
  note('connect', to.path ?? `${to.host ?? 'localhost'}:${to.port}`);
  return connect.apply(this, args);
};

for (const name of Object.keys(dns).filter((key) => /^(lookup|resolve)/.test(key))) {
  const original = dns[name];
  if (typeof original !== 'function') continue;
  dns[name] = (host, ...rest) => {
    if (!net.isIP(host)) note('name', host);
    return original.call(dns, host, ...rest);
  };
}
for (const name of Object.keys(dns.promises).filter((key) => /^(lookup|resolve)/.test(key))) {
  const original = dns.promises[name];
  if (typeof original !== 'function') continue;
  dns.promises[name] = (host, ...rest) => {
    if (!net.isIP(host)) note('name', host);
    return original.call(dns.promises, host, ...rest);
  };
}

const send = dgram.Socket.prototype.send;
dgram.Socket.prototype.send = function (...args) {
  note(
    'datagram',
    args
      .slice(1)
      .filter((part) => typeof part !== 'function')
      .join(' '),
  );
  return send.apply(this, args);
};

const dlopen = process.dlopen;
process.dlopen = function (module, path, ...rest) {
  note('native', path.replace(/.*node_modules\//, ''));
  return dlopen.call(this, module, path, ...rest);
};
