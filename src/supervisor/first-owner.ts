/** Reads the owner of the first key from the API. @module */
import { setTimeout as sleep } from 'node:timers/promises';

/** The API makes the owner when it is first asked; while it is busy starting it may say 503. */
export async function firstOwner(apiUrl: string, apiKey: string): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(`${apiUrl}/customers`, { headers: { authorization: `Bearer ${apiKey}` } }).catch(
      (error: unknown) => {
        if (attempt >= 40) throw error;
        return undefined;
      },
    );
    if (response?.ok) return ownerIdOf(await response.json());
    if (response && (response.status < 500 || attempt >= 40)) {
      throw new Error(`the API does not accept the owner's key: GET /customers answered ${response.status}`);
    }
    await sleep(250);
  }
}

function ownerIdOf(customer: unknown): string {
  const { ownerId } = customer as { ownerId?: unknown };
  if (typeof ownerId !== 'string') throw new Error('GET /customers answered without an ownerId');
  return ownerId;
}
