/** `npm start` with the stand-ins for Bursar's own programs. @module */
import { fileURLToPath } from 'node:url';
import { runBursar } from '../../../src/main/start.ts';

const entry = (name) => fileURLToPath(new URL(`${name}.mjs`, import.meta.url));
const names = ['api', 'worker', 'sandbox', 'migrate'];
process.exit(await runBursar({ entries: Object.fromEntries(names.map((name) => [name, entry(name)])) }));
