/** The worker process. @module */
import { readConfig } from './config.ts';
import { runProgram } from './run.ts';
import { startWorkerProcess } from './worker-process.ts';

await runProgram('worker', () => startWorkerProcess(readConfig(process.env, ['BURSAR_SIGNING_KEY'])));
