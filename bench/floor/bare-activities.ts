/** What the bare workflows ask for: nothing, one request, and as many durable commits of one row each. @module */
import { randomUUID } from 'node:crypto';
import pg from 'pg';

const { DATABASE_URL } = process.env;
const pool = DATABASE_URL === undefined ? undefined : new pg.Pool({ connectionString: DATABASE_URL });

/** One after the other, as the steps of a process commit. */
async function commit(on: Pick<pg.Pool, 'query'> | undefined, times: number): Promise<void> {
  for (let done = 0; done < times; done++)
    await on?.query(`insert into transitions values ('bench', $1, $2, null, 'done', now())`, [randomUUID(), 'bench']);
}

export const bareActivities = {
  answer: async (text: string, commits = 0): Promise<string> => {
    await commit(pool, commits);
    return text;
  },
  get: async (url: string, commits = 0): Promise<number> => {
    const answer = await fetch(url);
    await answer.arrayBuffer();
    await commit(pool, commits);
    return answer.status;
  },
};
