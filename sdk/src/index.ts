/** Everything that this package offers. @module */
export { Bursar, type BursarOptions, type Feed, type FeedEvent } from './bursar.ts';
export { BursarError, ConnectionError, type RateLimit, RefusedError, TimeoutError } from './errors.ts';
export type { EventData } from './generated/events.ts';
export * from './generated/operations.ts';
export type { components, operations as contracts } from './generated/schema.ts';
export { type Page, Pages } from './pages.ts';
export type { CallOptions } from './send.ts';
export * as webhooks from './webhooks.ts';
