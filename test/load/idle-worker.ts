/** In place of the worker of an installation whose real worker is started elsewhere: it does nothing. @module */
process.send?.({ ready: true });
process.on('SIGTERM', () => process.exit(0));
setInterval(() => undefined, 60_000);
