/** The kinds of records that are sealed in chains besides journals. @module */
import { decisionChain } from '../domains/payments/network/decision.chain.ts';
import { auditChain, type RecordChain } from '../platform/record-chains/record-chain.ts';

export const recordChains: readonly RecordChain[] = [auditChain, decisionChain];
