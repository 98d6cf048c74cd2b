/**
 * What of the specification is not built yet. An area is built as soon as an operation has its tag; nothing registers
 * it. `notBuiltYet` lists single facts of areas that are built in part, and only gets shorter: a test fails when a test
 * proves a fact on it.
 * @module
 */
import { general } from './areas.ts';
import { servedAreas } from './contracts.ts';
import type { Fact } from './facts.ts';

export const notBuiltYet: readonly string[] = [
  'prefix:/v1',
  'does:Checkout:a zero-knowledge credential flow',
  'event:payment.updated',
];

export const isBuiltArea = (area: string): boolean => area === general || servedAreas.has(area);

export const isBuilt = ({ id, area }: Pick<Fact, 'id' | 'area'>): boolean =>
  isBuiltArea(area) && !notBuiltYet.includes(id);
