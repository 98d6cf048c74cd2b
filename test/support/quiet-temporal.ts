/**
 * Import it where a test runs a Temporal worker: only errors are logged then. Loads the native part of the SDK.
 * @module
 */
import { DefaultLogger, Runtime } from '@temporalio/worker';

Runtime.install({ logger: new DefaultLogger('ERROR') });
