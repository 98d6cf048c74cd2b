/** A copy of the tree in a temporary folder, for programs that change sources to see which test notices it. @module */
import { execFileSync } from 'node:child_process';
import { cp, mkdtemp, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Everything that git knows, or what of it `isWanted`, and the installed packages. The caller removes it. */
export async function copyOfTree(isWanted: (path: string) => boolean = () => true): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'bursar-copy-'));
  const files = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean);
  for (const file of files.filter(isWanted)) await cp(join(root, file), join(copy, file));
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}
