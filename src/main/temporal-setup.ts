/** Sets up Temporal from the environment and prints one line. The one-shot of compose, also for operators. @module */
import { temporalSecurity } from '../temporal/security.ts';
import { setUpTemporal } from '../temporal/set-up.ts';

const { TEMPORAL_ADDRESS: address = '127.0.0.1:7233', TEMPORAL_NAMESPACE: namespace = 'default' } = process.env;
const security = temporalSecurity(process.env);
process.stdout.write(`${await setUpTemporal({ address, namespace, security })}\n`);
