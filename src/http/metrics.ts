/**
 * Metrics in Prometheus' text format, on a separate port on loopback. They are read at each request and not stored. A
 * label must never contain a caller's text.
 * @module
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from '../platform/log.ts';

export type Gauge = {
  readonly name: string;
  readonly help: string;
  readonly values: readonly { readonly value: number; readonly labels?: Readonly<Record<string, string>> }[];
};

/** https://prometheus.io/docs/instrumenting/exposition_formats/ */
export const exposition = (gauges: readonly Gauge[]): string =>
  gauges
    .map(({ name, help, values }) => {
      const lines = values.map(({ value, labels = {} }) => `${name}${labelsInText(labels)} ${value}`);
      return [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`, ...lines, ''].join('\n');
    })
    .join('');

const labelsInText = (labels: Readonly<Record<string, string>>): string => {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
};

export type MetricsServer = { readonly url: string; stop(): Promise<void> };

/** `GET /metrics` answers what all `sources` give, one after the other; a source that fails is left out and logged. */
export async function startMetricsServer(
  port: number,
  sources: readonly (() => Promise<string>)[],
  log: Logger,
): Promise<MetricsServer> {
  const read = async (source: () => Promise<string>): Promise<string> => {
    try {
      return await source();
    } catch (error) {
      log.warn({ err: error }, 'metrics not read');
      return '';
    }
  };
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    void Promise.all(sources.map(read)).then((texts) => {
      response.writeHead(200, { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' }).end(texts.join(''));
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`,
    stop: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
