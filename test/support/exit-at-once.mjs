/**
 * Loaded by Jest and its worker processes with `--import`. A worker process ends with process.exit() once nothing keeps
 * it alive. Without it, Node first frees the heap: for the 700 MB of modules of many test files this takes longer than
 * the 500 ms after which Jest reports "A worker process has failed to exit gracefully".
 * @module
 */
import { isMainThread } from 'node:worker_threads';

if (isMainThread && process.send !== undefined) process.on('beforeExit', () => process.exit());
