/**
 * Runs a program as a separate process: prints when it is ready, stops it gracefully on SIGTERM or SIGINT, and ends
 * with one error message when it cannot start.
 * @module
 */
type Program = { stop(): Promise<void>; readonly url?: string };

export async function runProgram(name: string, start: () => Promise<Program>): Promise<void> {
  let program: Program;
  try {
    program = await start();
  } catch (error) {
    process.stderr.write(`bursar ${name} cannot start: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
  process.send?.({ ready: true, ...(program.url === undefined ? {} : { url: program.url }) });
  let isStopping = false;
  const stop = (): void => {
    if (isStopping) return;
    isStopping = true;
    program.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`bursar ${name} did not stop cleanly: ${String(error)}\n`);
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}
