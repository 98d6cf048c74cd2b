/** The line on pages of a sandbox whose business time is ahead of real time: deadlines on them are in business time. @module */
import { second } from '../kernel/instant.ts';

/** Undefined while both are the same, as always in live; to the minute, because a page does not tick. */
export const businessTimeInWords = (businessNow: Date, realNow = new Date()): string | undefined =>
  businessNow.getTime() - realNow.getTime() < second
    ? undefined
    : `Sandbox: business time is ahead of real time; it is ${businessNow.toISOString().slice(0, 16).replace('T', ' ')} UTC.`;
