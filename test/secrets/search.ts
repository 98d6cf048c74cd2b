/** Finds secrets in a text, in whatever form they were written there. @module */

/** The names of those that the text holds. */
export const secretsIn = (secrets: ReadonlyMap<string, string>, text: string): string[] =>
  [...secrets].filter(([, secret]) => formsOf(secret).some((form) => text.includes(form))).map(([what]) => what);

/** A secret as it is, without its prefix, and as encoders would write it. */
function formsOf(secret: string): string[] {
  const bare = secret.replace(/^(?:[a-z]+_)+/, '');
  const forms = [secret, bare].flatMap((text) => [
    text,
    encodeURIComponent(text),
    Buffer.from(text).toString('hex'),
    Buffer.from(text).toString('base64').replace(/=+$/, '').slice(0, -1),
  ]);
  return [...new Set(forms)].filter((form) => form.length >= 12);
}
