/** All planted faults, in the order of the table in docs/testing.md. @module */
import type { Fault } from './fault.ts';
import { deliveryFaults } from './list/deliveries.ts';
import { deviceFaults } from './list/devices.ts';
import { isolationFaults } from './list/isolation.ts';
import { lockFaults } from './list/locks.ts';
import { moneyFaults } from './list/money.ts';
import { outboundFaults } from './list/outbound.ts';
import { rulesFaults } from './list/rules.ts';
import { signatureFaults } from './list/signatures.ts';
import { sqlFaults } from './list/sql.ts';
import { workflowFaults } from './list/workflows.ts';

export const faults: readonly Fault[] = [
  ...rulesFaults,
  ...moneyFaults,
  ...sqlFaults,
  ...isolationFaults,
  ...signatureFaults,
  ...lockFaults,
  ...workflowFaults,
  ...outboundFaults,
  ...deviceFaults,
  ...deliveryFaults,
];
