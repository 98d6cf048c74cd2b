/** The commands with their arguments and options, and how each ends. Decides nothing itself. @module */
import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';
import { Argument, CommanderError, Command as Program } from 'commander';
import { createApi } from './api.ts';
import { completionFor, type Shell, shells } from './completion.ts';
import type { Command, Context } from './context.ts';
import { doctor } from './doctor.ts';
import { CommandError, exitCodes } from './exit-codes.ts';
import { init } from './init.ts';
import { listen } from './listen.ts';
import { changeCard, decide, listCards, listIntents } from './lists.ts';
import { createOutput } from './output.ts';
import { pay } from './pay.ts';
import { type Environment, readSettings } from './settings.ts';
import { trace } from './trace.ts';
import { trigger, triggered } from './trigger.ts';

export type Surroundings = {
  readonly env: Environment;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** Ends when the user interrupts the command. */
  readonly ended: AbortSignal;
  /** `bursar ledger …`, `bursar keys …` and `bursar network …`, which work on the database, and `bursar mcp`. */
  readonly onDatabase: (args: readonly string[], say: (text: string) => unknown) => Promise<number>;
};

type Common = { readonly json?: boolean; readonly curl?: boolean; readonly api?: string };

/** The exit code. */
export async function runProgram(args: readonly string[], around: Surroundings): Promise<number> {
  let code: number = exitCodes.done;
  const program = programOf(around, (ended) => {
    code = ended;
  });
  try {
    await program.parseAsync([...args], { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
    around.stderr.write(`bursar: ${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof CommandError ? error.exitCode : exitCodes.usage;
  }
}

export function programOf(around: Surroundings, end: (code: number) => void): Program {
  const { env, stdin, stdout, stderr, ended } = around;
  const program = new Program('bursar')
    .description('A payments engine for software agents. docs/command-line.md says more.')
    .option('--json', 'print JSON')
    .option('--curl', 'print the calls of the API instead of making them')
    .option('--api <url>', 'the service, instead of the one of this machine (BURSAR_API_URL)')
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) })
    .exitOverride()
    .showHelpAfterError('(--help says more)')
    .addHelpText('after', '\nExit codes: 0 done, 1 refused, 2 wrong usage, 3 a person has to decide, 4 no answer.');

  const run = <Given>(command: Command<Given>, given: Given): Promise<void> =>
    within(program.opts<Common>(), async (context) => end(await command(context, given)));

  const within = async ({ json = false, curl = false, api }: Common, work: (context: Context) => Promise<void>) => {
    const settings = await readSettings(env, { api });
    const print = (line: string) => void stdout.write(`${line}\n`);
    const answers =
      stdin.isTTY === true && !json && !curl ? createInterface({ input: stdin, output: stderr }) : undefined;
    try {
      await work({
        env,
        settings,
        api: createApi(settings, { ended, ...(curl ? { print } : {}) }),
        out: createOutput({ stdout, stderr }, json),
        ask:
          answers === undefined
            ? undefined
            : async (question, otherwise) => (await answers.question(`${question} [${otherwise}]: `)) || otherwise,
        ended,
      });
    } finally {
      answers?.close();
    }
  };

  program
    .command('init')
    .description('make an agent with a policy and a token, and keep the token for later commands')
    .option('--name <name>', 'of the agent')
    .option('--preset <id>', 'its rules: strict, balanced, open, subscriptions or one_time')
    .option('--budget <euros>', 'puts money into the wallet; at once in a sandbox')
    .option('--new-owner', 'for a new owner instead of that of this machine')
    .action((given) => run(init, given));
  program
    .command('pay')
    .description('pay at an address, as the agent')
    .argument('<url>', 'of the shop, or the name of a shop of the sandbox, such as sandbox-shop')
    .option('--amount <euros>', 'what it may cost')
    .option('--purpose <text>', 'what it is for')
    .option('--merchant <name>', 'who is expected to charge')
    .option('--intent <id>', 'pay for this intent instead of declaring one')
    .option('--ref <id>', 'one per purchase: a repeat with it finds the first purchase')
    .option('--wait <seconds>', 'how long to wait for a person')
    .action((url: string, given) => run(pay, { url, ...given }));
  program
    .command('intents')
    .description('list intents, newest first')
    .option('--status <status>', 'only in this state, such as pending_approval')
    .option('--limit <number>', 'how many')
    .action((given) => run(listIntents, given));
  program
    .command('approve')
    .description('approve an intent or a card request that waits for a person')
    .argument('<id>')
    .action((id: string) => run(decide, { id, verb: 'approve' }));
  program
    .command('deny')
    .description('deny an intent or a card request that waits for a person')
    .argument('<id>')
    .option('--reason <text>', 'why')
    .action((id: string, given) => run(decide, { id, verb: 'deny', ...given }));
  const cards = program
    .command('cards')
    .description('list cards, newest first')
    .option('--limit <number>', 'how many')
    .action((given) => run(listCards, given));
  for (const verb of ['freeze', 'unfreeze'] as const) {
    cards
      .command(verb)
      .description(`${verb} a card`)
      .argument('<id>')
      .action((id: string) => run(changeCard, { id, verb }));
  }
  program
    .command('trace')
    .description('show the whole story of a payment, from any of its ids')
    .argument(
      '[id]',
      'of an intent, transaction, checkout, posting, event, …; without one, what the agent declared last',
    )
    .option('--agent', 'as the agent sees it')
    .action((id: string | undefined, given) => run(trace, { id, ...given }));
  program
    .command('listen')
    .description('show events as they happen, and forward them to an address of this machine')
    .option('--forward <url>', 'signed like a delivery; events are kept until it answers 2xx')
    .option('--events <names>', 'only these, separated by commas')
    .option('--from <position>', 'begin behind this position of the feed; 0: at its start, now: with what happens next')
    .option('--once', 'end when there are no further events')
    .option('--skip-failed', 'go on behind an event that the address does not take')
    .action((given) => run(listen, given));
  program
    .command('trigger')
    .description('make an event happen in a sandbox')
    .addArgument(new Argument('<event>', triggered.join(', ')))
    .action((event: string) => run(trigger, { event }));
  program
    .command('doctor')
    .description('say what is wrong with this installation, and what to do')
    .action(() => run(doctor, {}));
  program
    .command('completion')
    .description('print the script that completes this command in a shell')
    .addArgument(new Argument('<shell>').choices(shells))
    .action((shell: Shell) => void stdout.write(completionFor(shell, program)));

  const onDatabase = async (args: readonly string[]) => {
    if (program.opts<Common>().json !== true) return end(await around.onDatabase(args, (text) => stdout.write(text)));
    const said: string[] = [];
    const exitCode = await around.onDatabase(args, (text) => said.push(text));
    stdout.write(`${JSON.stringify({ exitCode, output: said.join('') }, undefined, 2)}\n`);
    return end(exitCode);
  };
  const areas = {
    ledger: [
      'check the books and the chains of records: verify, prove <id>, check <file>',
      ['verify', 'prove', 'check'],
    ],
    mcp: ['serve MCP on standard input and output, with the token BURSAR_TOKEN or that of init', []],
    network: [
      'settle what the card network sent and nothing has booked: messages, assign, dismiss',
      ['messages', 'assign', 'dismiss'],
    ],
    keys: [
      'change the keys of receipts and tokens: rotate, revoke <kid>; of push messages: rotate-push',
      ['rotate', 'revoke', 'rotate-push'],
    ],
  } as const;
  for (const [name, [description, verbs]] of Object.entries(areas)) {
    const area = program
      .command(name)
      .description(description)
      .usage(`<${verbs.join('|')}>`);
    // The id of a key may begin with a hyphen.
    if (name === 'keys') area.allowUnknownOption();
    area.argument('[words...]').action((words: string[]) => onDatabase([name, ...words]));
  }
  return program;
}
