/** Who signs the messages from outside: the card network's and the bank's, with the keys of this deployment. @module */
import { createMessageCeiling } from '../domains/payments/network/network.ceiling.ts';
import type { NetworkKeys } from '../domains/payments/network/network.signature.ts';
import { noteUntimelyMessage } from '../domains/payments/network/network-clock.service.ts';
import {
  type SignedBy,
  type SignedByDeps,
  type SignedHead,
  signedBy,
  signedHead,
} from '../domains/payments/network/signed-by.ts';
import { createFailureLimit } from '../http/failure-limit.ts';
import type { Config } from './config.ts';
import type { Infrastructure } from './infrastructure.ts';

/** In live the simulated network moves no money, also where simulators are allowed for tests. */
function networkKeysOf({ BURSAR_NETWORK_KEY: sandbox, BURSAR_MODE: mode }: Config): { readonly sandbox?: string } {
  return sandbox === undefined || mode !== 'sandbox' ? {} : { sandbox };
}

/** The bank of the sandbox has the key of the sandbox's network. */
const bankKeysOf = (config: Config): NetworkKeys => ({
  ...networkKeysOf(config),
  ...(config.BURSAR_BANK_KEY === undefined ? {} : { bank: config.BURSAR_BANK_KEY }),
});

/** This process' share. */
const messagesPerSecondOf = ({ BURSAR_NETWORK_MESSAGES_PER_SECOND: most, BURSAR_INSTANCES }: Config): number =>
  Math.max(1, Math.floor(most / BURSAR_INSTANCES));

/** `of`: who sends, in the log. Both count bad signatures together. */
export function signerOfMessages(
  { database, config, log }: Pick<Infrastructure, 'database' | 'config' | 'log'>,
  of: 'the card network' | 'the bank',
): { readonly signedBy: SignedBy; readonly signedHead: SignedHead } {
  const deps: SignedByDeps = {
    networkKeys: of === 'the bank' ? bankKeysOf(config) : networkKeysOf(config),
    countMessage: createMessageCeiling(messagesPerSecondOf(config)),
    countBadSignature: createFailureLimit('bad network signatures'),
    noteUntimely: async (message) => {
      if (message === undefined) return;
      log.warn(message, `a rightly signed message of ${of} was refused: the clocks are apart`);
      await noteUntimelyMessage(database.read(), message);
    },
  };
  return { signedBy: signedBy(deps), signedHead: signedHead(deps) };
}
