/** The settings of `npm start` from the environment. The processes that it starts read and check all others. @module */
export type StartSettings = {
  mode: 'sandbox' | 'live';
  /** Absent = the default or a free one; 0 = a free one. */
  port: number | undefined;
  host: string;
  publicUrl: string | undefined;
  databaseUrl: string | undefined;
  migrationDatabaseUrl: string | undefined;
  temporalAddress: string | undefined;
  namespace: string;
  allowedOrigins: string[];
};

export function readStartSettings(env: NodeJS.ProcessEnv): StartSettings {
  const wrong: string[] = [];
  const mode = env.BURSAR_MODE || 'sandbox';
  if (mode !== 'sandbox' && mode !== 'live') wrong.push(`BURSAR_MODE is ${mode}: it must be sandbox or live`);
  const port = env.PORT ? Number(env.PORT) : undefined;
  if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port <= 65_535)) {
    wrong.push(`PORT is ${env.PORT}: it must be a whole number from 0 to 65535 (0 takes a free one)`);
  }
  const publicUrl = env.BURSAR_PUBLIC_URL?.replace(/\/+$/, '') || undefined;
  if (publicUrl && !URL.canParse(publicUrl))
    wrong.push(`BURSAR_PUBLIC_URL is ${publicUrl}: it must be an address like https://pay.example`);
  // the value holds a password, so it is not repeated
  if (env.DATABASE_URL && !/^postgres(ql)?:\/\//.test(env.DATABASE_URL))
    wrong.push('DATABASE_URL must begin with postgres://');
  if (wrong.length > 0) throw new Error(wrong.join('\n'));
  return {
    mode: mode as StartSettings['mode'],
    port,
    host: env.HOST || '127.0.0.1',
    publicUrl,
    databaseUrl: env.DATABASE_URL || undefined,
    migrationDatabaseUrl: env.BURSAR_MIGRATION_DATABASE_URL || undefined,
    temporalAddress: env.TEMPORAL_ADDRESS || undefined,
    namespace: env.TEMPORAL_NAMESPACE || 'default',
    allowedOrigins: (env.BURSAR_ALLOWED_ORIGINS ?? '')
      .split(',')
      .map((origin) => origin.trim())
      .filter(Boolean),
  };
}
