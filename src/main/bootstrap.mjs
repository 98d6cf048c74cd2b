#!/usr/bin/env node
/**
 * Installs the packages where node_modules does not match package-lock.json, and, called as `bursar` or with
 * arguments, runs the command line. Plain JavaScript for Node 20 without packages, because none may be there yet.
 * @module
 */
import { spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const lock = join(root, '.bursar', 'install.lock');
const retiring = '.retiring-';
/** What a lock of this process says; the process id alone would be the same again one day. */
const mark = `${process.pid} ${randomUUID()}`;

if (Number(process.versions.node.split('.')[0]) < 20) {
  say(`Node 20 or newer is needed, this is ${process.versions.node}`);
  process.exit(1);
}
await installWhereNeeded();
const args = process.argv.slice(2);
if (args.length > 0 || basename(process.argv[1] ?? '') === 'bursar') process.exit(await commandLine());

async function installWhereNeeded() {
  const reason = mismatch();
  if (!reason) return;
  await takeLock();
  try {
    // another start may have installed while this one waited
    const still = mismatch();
    if (still) await install(still);
  } finally {
    removeRetiring();
    rmSync(lock, { force: true });
  }
}

/** Why packages have to be installed, in plain words; undefined where all is as the lockfile says. */
function mismatch() {
  const wanted = packagesOf(join(root, 'package-lock.json'));
  const present = packagesOf(join(root, 'node_modules', '.package-lock.json'));
  if (!wanted) return `${join(root, 'package-lock.json')} cannot be read`;
  if (!present || !existsSync(join(root, 'node_modules', '.bin', 'node'))) return 'the packages are not installed yet';
  for (const [path, is] of Object.entries(present)) {
    if (!fits(is)) return 'the installed packages are for another kind of machine';
    const should = wanted[path];
    if (should?.version !== is.version || should?.integrity !== is.integrity) return 'package-lock.json has changed';
  }
  for (const [path, should] of Object.entries(wanted)) {
    const isOwn = path === '' || should.link === true;
    // an optional package may be meant for other machines only
    if (!isOwn && !should.optional && !present[path]) return 'package-lock.json has changed';
  }
  return undefined;
}

function fits({ os, cpu }) {
  const names = (list, own) =>
    !list || list.includes(own) || list.some((name) => name.startsWith('!') && name !== `!${own}`);
  return names(os, process.platform) && names(cpu, process.arch);
}

function packagesOf(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

async function install(reason) {
  say(`${reason}: installing them with npm, this takes about half a minute`);
  const start = Date.now();
  const seconds = () => Math.round((Date.now() - start) / 1000);
  const progress = setInterval(() => say(`still installing: ${seconds()} s`), 10_000);
  // npm replaces node_modules, so it must not run on the Node in there
  const own = join(root, 'node_modules');
  const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.startsWith(own));
  const code = await run('npm', ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'], {
    ...process.env,
    PATH: path.join(delimiter),
  });
  clearInterval(progress);
  if (code !== 0) {
    say(`npm ci failed (${code}): see above, mend it and run the same command again`);
    rmSync(lock, { force: true });
    process.exit(1);
  }
  say(`packages installed in ${seconds()} s`);
}

function commandLine() {
  const node = join(root, 'node_modules', '.bin', 'node');
  const child = spawn(node, ['--disable-warning=ExperimentalWarning', join(root, 'src/main/cli.ts'), ...args], {
    stdio: 'inherit',
  });
  return ending(child);
}

function run(command, parameters, env) {
  // npm talks on stdout too, which belongs to the program that is started afterwards
  return ending(spawn(command, parameters, { cwd: root, env, stdio: ['ignore', 2, 2] }));
}

/** The exit code of a child; our own signals are passed on, and we end when it has ended. */
function ending(child) {
  const pass = (signal) => child.kill(signal);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, pass);
  return new Promise((resolve) => {
    child.once('error', (error) => {
      say(error.code === 'ENOENT' ? `${child.spawnfile} was not found` : error.message);
      resolve(1);
    });
    child.once('close', (code, signal) => resolve(code ?? (signal ? 130 : 1)));
  });
}

/** One installation at a time; the lock of a process that died is taken over. */
async function takeLock() {
  mkdirSync(join(root, '.bursar'), { recursive: true, mode: 0o711 });
  for (let hasSaid = false; ; ) {
    if (writeOnce(lock, mark)) return;
    const contents = textOf(lock);
    if (contents === undefined) continue;
    if (isHeld(contents, lock)) {
      if (!hasSaid) say('another start is installing the packages: waiting for it');
      hasSaid = true;
      await sleep(500);
    } else if (!retire(contents)) await sleep(10);
  }
}

/** Creates the file with its contents in one step, or leaves the one that is there. */
function writeOnce(path, contents) {
  const draft = `${path}.${randomUUID()}`;
  writeFileSync(draft, contents, { mode: 0o600 });
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    return false;
  } finally {
    rmSync(draft);
  }
}

/**
 * Removes the lock of a dead process; false while another start does that. Only the one that has the lock over these
 * contents removes it, because what a third one has put in its place since would be the lock of a live process.
 */
function retire(contents) {
  const held = lockedFor(contents);
  if (held === undefined) return false;
  if (textOf(lock) === contents) rmSync(lock);
  for (const path of held) rmSync(path, { force: true });
  return true;
}

/** The files of the lock over these contents; a holder that died is followed by the one that writes the next number. */
function lockedFor(contents) {
  const digest = createHash('sha256').update(contents).digest('hex').slice(0, 16);
  for (const files = []; ; ) {
    const path = `${lock}${retiring}${digest}-${files.length + 1}`;
    files.push(path);
    if (writeOnce(path, mark)) return files;
    const holder = textOf(path);
    if (holder === undefined || isHeld(holder, path)) return undefined;
  }
}

/** Of takeovers that were cut off; their locks are gone for good. */
function removeRetiring() {
  const folder = dirname(lock);
  const left = readdirSync(folder).filter((name) => name.startsWith(`${basename(lock)}${retiring}`));
  for (const name of left) rmSync(join(folder, name), { force: true });
}

/** Earlier versions wrote the process id alone, in a second step after the file. */
function isHeld(contents, path) {
  return contents === '' ? ageMs(path) < 10_000 : isAlive(Number(contents.split(' ')[0]));
}

function textOf(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  }
}

function ageMs(path) {
  try {
    return Date.now() - statSync(path).mtimeMs;
  } catch {
    return 0;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
  try {
    // the number may belong to a stranger by now: an installation is a Node program that runs this file
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(basename(fileURLToPath(import.meta.url)));
  } catch {
    return true;
  }
}

function say(line) {
  process.stderr.write(`bursar: ${line}\n`);
}
