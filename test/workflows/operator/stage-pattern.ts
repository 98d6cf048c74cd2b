/**
 * The sentences of a stage as a pattern: `{agent}`, `{subject}` and `{webhook}` stand for ids, `{time}` for an instant,
 * `{page}` for an approver's link.
 * @module
 */
/** The table's text as a pattern for one run. */
export function patternOf(text: string, names: Readonly<Record<string, string>>): RegExp {
  const quoted = text.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&');
  const filled = quoted.replaceAll(/\{(\w+)\}/g, (whole, name: string) => forms[name] ?? names[name] ?? whole);
  return new RegExp(`^${filled}$`);
}

const forms: Readonly<Record<string, string>> = {
  time: '\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z',
  day: '\\d{4}-\\d\\d-\\d\\d',
  euros: '\\d+\\.\\d\\d',
  page: 'http://[\\w.:]+/approve/[0-9a-f]{32}',
};
