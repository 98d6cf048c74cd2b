/**
 * The global settings of the workflow sandbox, loaded before any run. The SDK keeps a stack trace of every promise, for
 * the Web UI's tab "Stack Trace", and each frame of it is looked up in the source map.
 * @module
 */

/** The SDK's own two, and four of the workflow: enough to name the line of the process that waits. */
Error.stackTraceLimit = 6;
