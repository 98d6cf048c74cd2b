/** Many thousands of deliveries may wait: each transaction changes this many, so that none takes longer than a step may. @module */
export const changedAtOnce = 10_000;
