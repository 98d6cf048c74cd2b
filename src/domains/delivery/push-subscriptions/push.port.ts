/** The push service of a device, which a caller named: one encrypted message by Web Push (RFC 8030, 8291, 8292). @module */
export type PushMessage = {
  readonly endpoint: string;
  readonly keys: { readonly p256dh: string; readonly auth: string };
  /** Signs the message; the device subscribed with its public half. */
  readonly sender: { readonly publicKey: string; readonly privateKey: string };
  readonly payload: string;
  readonly ttlSeconds: number;
  readonly isUrgent: boolean;
  /** At most 32 characters of base64url: replaces a message of the same topic that the service still keeps. */
  readonly topic: string;
};

export type PushAnswer = {
  /** Null where the service gave no answer; then `why` says what was wrong. */
  readonly status: number | null;
  /** The header as it came. */
  readonly retryAfter: string | null;
  readonly why: string | null;
};

export type PushService = {
  /** Never throws for what the service does or fails to do: `status` is null without an answer. */
  send(message: PushMessage): Promise<PushAnswer>;
};
