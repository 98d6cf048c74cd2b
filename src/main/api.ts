/** The API process. @module */
import { startApi } from './api-server.ts';
import { readConfig } from './config.ts';
import { runProgram } from './run.ts';

await runProgram('api', () => startApi(readConfig(process.env)));
