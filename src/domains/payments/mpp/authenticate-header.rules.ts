/**
 * Parses `WWW-Authenticate` (RFC 9110, 11.6.1) into its challenges: several header lines, several challenges on one
 * line, quoted strings that contain what looks like a challenge. A challenge with a fault does not affect the others.
 * Knows no scheme. Runs in linear time.
 * @module
 */

export type HeaderChallenge = {
  /** In lower case. */
  readonly scheme: string;
  /** By lower-case name; values without quotes and escapes. Empty for a scheme with a token68. */
  readonly parameters: ReadonlyMap<string, string>;
  /** Why the challenge must not be used. */
  readonly fault: string | undefined;
};

const token = /[!#$%&'*+\-.^_`|~0-9A-Za-z]+/y;
/** Visible characters, space, tab and obs-text; a backslash quotes the next one. */
const quotedString = /"((?:[\t !#-[\]-~\x80-\xff]|\\[\t -~\x80-\xff])*)"/y;
const badWhitespace = /[ \t]*/y;
/** A token68 ends its challenge. */
const token68 = /[0-9A-Za-z\-._~+/]+=*(?=[ \t]*(?:,|$))/y;
/** Up to the next comma outside of quotes, or to the end. An unterminated quote reaches the end. */
const skipped = /(?:[^",]|"(?:[^"\\]|\\[\s\S])*(?:"|\\?$))*/y;

/** `lines`: the values of the header's lines, in the order received. */
export const parseAuthenticate = (lines: readonly string[]): HeaderChallenge[] => lines.flatMap(parseLine);

type Draft = { scheme: string; parameters: Map<string, string>; hasToken68: boolean; fault: string | undefined };

function parseLine(line: string): HeaderChallenge[] {
  const challenges: Draft[] = [];
  let at = 0;
  const take = (form: RegExp): RegExpExecArray | undefined => {
    form.lastIndex = at;
    const match = form.exec(line);
    if (match === null) return undefined;
    at = form.lastIndex;
    return match;
  };
  const fail = (fault: string): void => {
    const current = challenges.at(-1);
    if (current !== undefined) current.fault ??= fault;
    take(skipped);
  };

  /** After a name: `= value`. Returns whether the name was that of a parameter. */
  const takeValue = (name: string): boolean => {
    const beforeEquals = at;
    take(badWhitespace);
    if (line[at] !== '=') {
      at = beforeEquals;
      return false;
    }
    at += 1;
    take(badWhitespace);
    const value = takeText();
    const current = challenges.at(-1);
    if (value === undefined) fail(`the value of ${name} is malformed`);
    else if (current?.hasToken68) fail('parameters follow a token68');
    else if (current?.parameters.has(name)) fail(`${name} occurs twice`);
    else current?.parameters.set(name, value);
    return true;
  };

  const takeText = (): string | undefined => {
    const quoted = take(quotedString);
    if (quoted !== undefined) return (quoted[1] as string).replace(/\\([\s\S])/g, '$1');
    return take(token)?.[0];
  };

  const begin = (scheme: string): void => {
    const current: Draft = {
      scheme: scheme.toLowerCase(),
      parameters: new Map(),
      hasToken68: false,
      fault: undefined,
    };
    challenges.push(current);
    if (line[at] !== ' ') return;
    take(badWhitespace);
    if (take(token68) !== undefined) {
      current.hasToken68 = true;
      return;
    }
    const name = take(token)?.[0].toLowerCase();
    if (name !== undefined && !takeValue(name)) fail(`"${name}" has no value`);
  };

  while (at < line.length) {
    take(badWhitespace);
    const name = take(token)?.[0];
    if (name !== undefined && (challenges.length === 0 || !takeValue(name.toLowerCase()))) begin(name);
    take(badWhitespace);
    if (at < line.length && line[at] !== ',') fail('a comma is missing or a character is not allowed');
    at += 1;
  }
  return challenges.map(({ scheme, parameters, fault }) => ({ scheme, parameters, fault }));
}
