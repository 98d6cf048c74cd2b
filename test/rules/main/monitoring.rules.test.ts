/**
 * Goal: what an operator imports fits together: the dashboard's form, and alerts that name an existing part of the
 * runbook. Method: the files themselves. Whether the metrics exist is asked of a running worker
 * (test/workflows/operator/worker-layout.test.ts).
 * @module
 */
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';

const text = (path: string): string => readFileSync(new URL(`../../../docs/${path}`, import.meta.url), 'utf8');
type Panel = {
  id: number;
  type: string;
  gridPos: { w: number; x: number };
  targets: { expr: string; refId: string }[];
};
type Rule = { alert: string; expr: string; annotations: { summary: string; runbook: string } };

test('the dashboard has a version of the schema, and panels with ids of their own that fit into its 24 columns', () => {
  const { schemaVersion, panels } = JSON.parse(text('monitoring/dashboard.json')) as {
    schemaVersion: number;
    panels: Panel[];
  };
  expect(schemaVersion).toBe(39);
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  for (const { type, gridPos, targets } of panels) {
    expect([type, gridPos.x + gridPos.w <= 24]).toEqual(['timeseries', true]);
    expect(targets.filter(({ expr, refId }) => expr === '' || refId === '')).toEqual([]);
  }
});

test('each alert says what is wrong and names a part of the runbook that exists', () => {
  const { groups } = parse(text('monitoring/alerts.yaml')) as { groups: { rules: Rule[] }[] };
  const headings = [...text('runbook.md').matchAll(/^## (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  );
  expect(headings.length).toBeGreaterThan(9);
  for (const { alert, annotations } of groups.flatMap(({ rules }) => rules)) {
    const [path, anchor] = annotations.runbook.split('#');
    expect([alert, path, headings.includes(anchor ?? '')]).toEqual([alert, 'docs/runbook.md', true]);
    expect(annotations.summary).toMatch(/\.$/);
  }
});

test('nobody is called because something waits for a moment: a count of runs stands beside the age of its loop', () => {
  const { groups } = parse(text('monitoring/alerts.yaml')) as { groups: { rules: Rule[] }[] };
  const counting = groups
    .flatMap(({ rules }) => rules)
    .filter(({ expr }) => /bursar_(wakes|starts)_waiting/.test(expr));
  expect(counting.map(({ alert }) => alert)).toEqual(['BursarRunsNotWoken']);
  for (const { expr } of counting) expect(expr).toMatch(/ and max\(bursar_loop_age_seconds\{loop="relay"\}\) > \d+$/);
});
