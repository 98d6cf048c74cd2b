/** The records of answers, as far as the command reads them. @module */
export type Page<Row> = { readonly data: readonly Row[]; readonly hasMore: boolean };

export type Intent = {
  readonly id: string;
  readonly agentId: string;
  readonly status: string;
  readonly purpose: string;
  readonly expectedAmountEuros: number;
  readonly expectedMerchant: string | null;
  readonly approvalUrl: string | null;
  readonly createdAt: string;
  readonly policyCheck: { readonly reason: string | null };
};

export type Card = {
  readonly id: string;
  readonly agentId: string;
  readonly name: string;
  readonly last4: string;
  readonly status: string;
};

export type Agent = {
  readonly id: string;
  readonly name: string | null;
  readonly cardId: string | null;
  readonly status: string;
};

export type FeedEvent = {
  readonly id: string;
  readonly position: number;
  readonly event: string;
  readonly subjectId: string;
  readonly requestId: string;
  readonly runId: string | null;
  readonly createdAt: string;
  readonly data: Record<string, unknown>;
};
export type Feed = { readonly data: readonly FeedEvent[]; readonly position: number; readonly hasMore: boolean };

export type Paid = {
  readonly success: boolean;
  readonly status: string;
  readonly transactionId: string | null;
  readonly amountEuros: number;
  readonly reason: string | null;
  readonly paymentId: string | null;
};
