/** The environment of the sandbox process. @module */
import * as z from 'zod';

export const SandboxEnvironment = z.object({
  BURSAR_DATA_DIR: z.string().min(1).default('.bursar'),
  HOST: z.string().min(1).default('127.0.0.1'),
  SANDBOX_PORT: z.coerce.number().int().min(0).max(65_535).default(8401),
  /** How long the network waits for a decision before it decides itself. */
  SANDBOX_DECISION_TIMEOUT_MS: z.coerce.number().int().min(100).max(60_000).default(2_000),
  BURSAR_API_URL: z.url({ protocol: /^https?$/ }).default('http://127.0.0.1:8400'),
  BURSAR_NETWORK_KEY: z.string().min(1),
  BURSAR_CLOCK_KEY: z.string().min(1),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
});
