/** Changes of the rules that no test notices, each with the reason why nobody can notice it. @module */

/** One line of the code before and after the change, as `npm run mutation` prints them. */
export type Change = { readonly from: string; readonly to: string };

export type Accepted = { readonly file: string; readonly why: string; readonly changes: readonly Change[] };

const inFile =
  (file: string) =>
  (why: string, from: string, ...to: readonly string[]): Accepted => ({
    file: `src/${file}`,
    why,
    changes: to.map((changed) => ({ from, to: changed })),
  });

const money = inFile('kernel/money.ts');
const transaction = inFile('domains/payments/transactions/transaction.rules.ts');
const spendingChecks = inFile('domains/spending/policies/spending-checks.rules.ts');
const merchantChecks = inFile('domains/spending/policies/merchant-checks.rules.ts');
const ledger = inFile('domains/treasury/ledger/ledger.rules.ts');
const mppPayment = inFile('domains/payments/mpp-payments/mpp-payment.rules.ts');
const match = inFile('domains/spending/policies/merchant-match.rules.ts');
const checkout = inFile('domains/payments/checkout/checkout.rules.ts');
const credential = inFile('domains/payments/mpp-credentials/mpp-credential.rules.ts');
const challenge = inFile('domains/payments/mpp-credentials/challenge-evaluation.rules.ts');
const bankMessage = inFile('domains/treasury/sepa/bank-message.rules.ts');
const verify = inFile('domains/treasury/ledger/verify.rules.ts');
const proof = inFile('domains/treasury/ledger/proof.rules.ts');
const split = inFile('domains/treasury/transfers/transfer-split.rules.ts');
const intentMatch = inFile('domains/spending/policies/intent-match.rules.ts');
const endpoint = inFile('domains/delivery/webhooks/endpoint.rules.ts');

const authorization = inFile('domains/payments/network/authorization.rules.ts');
const increment = inFile('domains/payments/network/increment.rules.ts');
const descriptor = inFile('domains/spending/policies/merchant-descriptor.rules.ts');
const policy = inFile('domains/spending/policies/policy.rules.ts');
const recurrence = inFile('domains/spending/intents/windows/recurrence.rules.ts');
const remedy = inFile('domains/payments/network/remedy.rules.ts');
const bankTransfer = inFile('domains/treasury/sepa/bank-transfer.rules.ts');
const delivery = inFile('domains/delivery/webhooks/delivery.rules.ts');

const policyExpiry = inFile('domains/spending/policies/policy-expiry.rules.ts');
const window = inFile('domains/spending/intents/windows/window.rules.ts');
const bankingDay = inFile('domains/treasury/sepa/banking-day.rules.ts');
const calendar = inFile('domains/treasury/sepa/target-calendar.rules.ts');
const webhook = inFile('domains/delivery/webhooks/webhook.rules.ts');
const passkey = inFile('domains/identity/passkeys/passkey.rules.ts');
const header = inFile('domains/payments/mpp/authenticate-header.rules.ts');
const bankEntry = inFile('domains/treasury/bank-files/bank-entry.rules.ts');
const policyVersion = inFile('domains/spending/policies/policy-version.rules.ts');
const signature = inFile('domains/payments/network/network.signature.ts');
const merkle = inFile('platform/record-chains/merkle.rules.ts');
const recordChain = inFile('platform/record-chains/record-chain.rules.ts');
const checkpoint = inFile('domains/treasury/ledger/checkpoint.rules.ts');
const seal = inFile('domains/treasury/ledger/seal.rules.ts');
const settledPosition = inFile('domains/delivery/events/settled-position.rules.ts');
const encryptionKey = inFile('domains/payments/mpp/encryption-key.rules.ts');
const nameMatch = inFile('domains/treasury/beneficiaries/name-match.rules.ts');
const entry = inFile('domains/treasury/ledger/entry.rules.ts');
const allowance = inFile('domains/spending/intents/allow-once.rules.ts');
const allowOnce = inFile('domains/payments/network/allow-once.rules.ts');
const fundingSource = inFile('domains/payments/transactions/funding-source.rules.ts');
const outcome = inFile('domains/payments/mpp-payments/mpp-payment.outcome.rules.ts');
const signingKey = inFile('domains/identity/well-known/signing-key.rules.ts');
const push = inFile('domains/delivery/push-subscriptions/push.rules.ts');

const oneMisfit = 'Only intents with exactly one misfit are compared here.';
const nobodys = 'The name that was added is that of no merchant.';
const noPlace = 'The text that was added is no place, as no text is none.';
const wholeIsReversed = 'At or above what was approved nothing is left to hold, whichever way it is computed.';

export const accepted: readonly Accepted[] = [
  money(
    'The text of a number always has a part before the point, so the default is never taken.',
    "const [whole = '0', fraction = ''] = text.split('.');",
    `const [whole = "", fraction = ''] = text.split('.');`,
  ),
  transaction(
    'A comparison with undefined is false, so the first condition only narrows the type.',
    'const isPart = amountCents !== undefined && amountCents < state.approvedCents;',
    'const isPart = true && amountCents < state.approvedCents;',
  ),
  transaction(
    wholeIsReversed,
    'const isPart = amountCents !== undefined && amountCents < state.approvedCents;',
    'const isPart = amountCents !== undefined || amountCents < state.approvedCents;',
    'const isPart = amountCents !== undefined && true;',
    'const isPart = amountCents !== undefined && amountCents <= state.approvedCents;',
  ),
  transaction(
    'Only a payment of which something was collected ends as completed.',
    "clearedCents > 0 && refundedCents >= clearedCents ? 'reversed' : 'completed';",
    "true && refundedCents >= clearedCents ? 'reversed' : 'completed';",
    "clearedCents >= 0 && refundedCents >= clearedCents ? 'reversed' : 'completed';",
  ),
  transaction(
    'It is noticed by the test of the published document, whose descriptions name the seven days.',
    'export const linkWindowMs = 7 * day;',
    'export const linkWindowMs = 7 / day;',
  ),
  spendingChecks(
    'A drifted name is refused only where both categories are known, so the defaults are never taken.',
    "const categories = { firstMcc: first.mcc ?? '', mcc: mcc ?? '' };",
    `const categories = { firstMcc: first.mcc ?? "Stryker was here!", mcc: mcc ?? '' };`,
    `const categories = { firstMcc: first.mcc ?? '', mcc: mcc ?? "Stryker was here!" };`,
  ),
  spendingChecks(
    'Of equal hours one of the other two conditions is always true; the first one is for the reader.',
    'const isInside = start < end ? hour >= start && hour < end : start === end || hour >= start || hour < end;',
    'const isInside = start < end ? hour >= start && hour < end : false || hour >= start || hour < end;',
  ),
  ledger(
    'Each pattern sums to zero for every amount, so the assertion fails for no caller; the database checks each journal again.',
    'assert(add(...lines.map(([, amount]) => amount)) === 0, `lines sum to zero: ${JSON.stringify(lines)}`);',
    'assert(true, `lines sum to zero: ${JSON.stringify(lines)}`);',
    'assert(add(...lines.map(([, amount]) => amount)) === 0, ``);',
  ),
  mppPayment('No command has the name that was added.', 'paid: [],', 'paid: ["Stryker was here"],'),
  split(
    'A line with the first status is in a stage that was asked for before.',
    "status === 'pending_approval' || status === 'pending' || status === 'submitted';",
    "false || status === 'pending' || status === 'submitted';",
    `status === "" || status === 'pending' || status === 'submitted';`,
  ),
  split(
    'Of one ending there is a first, so the condition only narrows the type.',
    'if (endings.size === 1 && ending !== undefined && isEnding(ending)) return ending;',
    'if (endings.size === 1 && true && isEnding(ending)) return ending;',
  ),
  match(
    'No host is equal to what has no domain, so the condition only narrows the type.',
    'return domain !== undefined && domainsOf(merchant).some((host) => host === domain || host.endsWith(`.${domain}`));',
    'return true && domainsOf(merchant).some((host) => host === domain || host.endsWith(`.${domain}`));',
  ),
  match(
    'No entry has the domain that was added.',
    '[domain, name].filter(given).flatMap((text) => domainIn(text) ?? []);',
    '[domain, name].filter(given).flatMap((text) => domainIn(text) ?? ["Stryker was here"]);',
  ),
  match(
    'Equal words differ by nothing, which is always forgiven; the comparison is the faster way.',
    'return a === b || editDistance(a, b) <= forgiven(Math.min(a.length, b.length));',
    'return false || editDistance(a, b) <= forgiven(Math.min(a.length, b.length));',
  ),
  match(
    'Words whose lengths differ by more than two differ by more than is forgiven; the comparison is the faster way.',
    'if (Math.abs(a.length - b.length) > 2) return Number.POSITIVE_INFINITY;',
    'if (false) return Number.POSITIVE_INFINITY;',
  ),
  match(
    'From the end of the first row the distance is that of nearly the whole word, more than is forgiven.',
    'let previous = Array.from({ length: b.length + 1 }, (_, column) => column);',
    'let previous = Array.from({ length: b.length - 1 }, (_, column) => column);',
  ),
  descriptor(
    'A text has a first piece, so the default is never taken.',
    "const [first = '', ...rest] = piecesOf(text);",
    'const [first = "Stryker was here!", ...rest] = piecesOf(text);',
  ),
  descriptor(
    'A reading that stands twice finds what it finds once; the comparison is the faster way.',
    "return (bare.length === pieces.length ? [pieces] : [pieces, bare]).flatMap(([first = '', ...others]) => {",
    "return (false ? [pieces] : [pieces, bare]).flatMap(([first = '', ...others]) => {",
  ),
  descriptor(
    nobodys,
    "return (bare.length === pieces.length ? [pieces] : [pieces, bare]).flatMap(([first = '', ...others]) => {",
    'return (bare.length === pieces.length ? [pieces] : [pieces, bare]).flatMap(([first = "Stryker was here!", ...others]) => {',
  ),
  descriptor(
    nobodys,
    'if (label === undefined) return [{ words: [], rest, host }];',
    'if (label === undefined) return [{ words: ["Stryker was here"], rest, host }];',
  ),
  descriptor(
    nobodys,
    "if (wanted.every((word, at) => isSpelling(words[at] ?? '', word))) rests.push(words.slice(wanted.length));",
    'if (wanted.every((word, at) => isSpelling(words[at] ?? "Stryker was here!", word))) rests.push(words.slice(wanted.length));',
  ),
  descriptor(
    'What is absent has no point, as a host has one, so the first condition only narrows the type.',
    String.raw`return host !== undefined && /\.(xn--[a-z\d-]+|\p{L}{2,})$/u.test(host) ? host : undefined;`,
    String.raw`return true && /\.(xn--[a-z\d-]+|\p{L}{2,})$/u.test(host) ? host : undefined;`,
  ),
  descriptor(
    'There are more than two labels, so neither default is ever taken.',
    "const isTwofold = labels.length > 2 && labels.at(-1)?.length === 2 && secondLevels.has(labels.at(-2) ?? '');",
    "const isTwofold = labels.length > 2 && labels.at(-1).length === 2 && secondLevels.has(labels.at(-2) ?? '');",
    `const isTwofold = labels.length > 2 && labels.at(-1)?.length === 2 && secondLevels.has(labels.at(-2) ?? "Stryker was here!");`,
  ),
  descriptor(
    noPlace,
    "const isFree = name.telling >= 2 && name.words.some(isDistinctive) && regionCodes.has(words.at(-1) ?? '');",
    'const isFree = name.telling >= 2 && name.words.some(isDistinctive) && regionCodes.has(words.at(-1) ?? "Stryker was here!");',
  ),
  descriptor(
    'The place is always one of the words, so the default is never taken.',
    "const word = words[at] ?? '';",
    'const word = words[at] ?? "Stryker was here!";',
  ),
  descriptor(
    'A place of one word is known without the next word.',
    "const two = word + (words[at + 1] ?? '');",
    'const two = word + (words[at + 1] ?? "Stryker was here!");',
  ),
  descriptor(
    'A place of one word is known without the next word.',
    "places.has(word + (words[at + 1] ?? '')) ||",
    'places.has(word + (words[at + 1] ?? "Stryker was here!")) ||',
  ),
  descriptor(
    'A place of one word is known without the one before.',
    "places.has((words[at - 1] ?? '') + word),",
    'places.has((words[at - 1] ?? "Stryker was here!") + word),',
  ),
  descriptor(
    'The text that was added is no host, as no text is none.',
    "const host = hostIn(pieces[0] ?? '');",
    'const host = hostIn(pieces[0] ?? "Stryker was here!");',
  ),
  descriptor(
    'A text has a spelling, so the default is never taken.',
    "const [spelled = ''] = spellingsOf(pieces.join(' '));",
    `const [spelled = "Stryker was here!"] = spellingsOf(pieces.join(' '));`,
  ),
  descriptor(
    'At least two words are left, so neither default is ever taken.',
    "const [last = '', previous = ''] = [left.at(-1), left.at(-2)];",
    `const [last = "Stryker was here!", previous = ''] = [left.at(-1), left.at(-2)];`,
    `const [last = '', previous = "Stryker was here!"] = [left.at(-1), left.at(-2)];`,
  ),
  descriptor(
    noPlace,
    "const isRegion = regionCodes.has(last) && (places.has(previous) || places.has((left.at(-3) ?? '') + previous));",
    'const isRegion = regionCodes.has(last) && (places.has(previous) || places.has((left.at(-3) ?? "Stryker was here!") + previous));',
  ),
  descriptor(
    'A text without such letters has one spelling either way; the comparison is the faster way.',
    'if (isAscii.test(text)) return [normalised(text)];',
    'if (false) return [normalised(text)];',
  ),
  descriptor(
    'A text without such letters has one spelling either way; the comparison is the faster way.',
    String.raw`const isAscii = /^[\x20-\x7e]*$/;`,
    String.raw`const isAscii = /^[\x20-\x7e]$/;`,
  ),
  policy(
    'Without a policy the holder is refused, so the condition only narrows the type.',
    'else if (facts.policy !== null) yield* policyFindings(facts, facts.policy);',
    'else if (true) yield* policyFindings(facts, facts.policy);',
  ),
  recurrence(
    'Both are the same instant.',
    'return { number, dueAt: instantOf(dueDay(schedule, number)), fromAt, toAt: toAt < endsAt ? toAt : endsAt };',
    'return { number, dueAt: instantOf(dueDay(schedule, number)), fromAt, toAt: toAt <= endsAt ? toAt : endsAt };',
  ),
  checkout(
    'The place is always one of the list, so the default is never taken.',
    'gapsMs[Math.min(Math.max(attempts, 1), gapsMs.length) - 1] ?? 60 * minute;',
    'gapsMs[Math.min(Math.max(attempts, 1), gapsMs.length) - 1] ?? 60 / minute;',
  ),
  credential(
    'What is absent is no date either once it is read as one.',
    'const ends = challengeExpires === undefined ? Number.NaN : Date.parse(challengeExpires);',
    'const ends = false ? Number.NaN : Date.parse(challengeExpires);',
  ),
  challenge(
    'No address is no URL, and has no host.',
    'const host = origin === null ? null : hostOf(origin);',
    'const host = false ? null : hostOf(origin);',
  ),
  challenge(
    'In the host of a URL brackets stand only around an IPv6 address.',
    String.raw`?.hostname.replace(/^\[|\]$/g, '')`,
    String.raw`?.hostname.replace(/\[|\]$/g, '')`,
    String.raw`?.hostname.replace(/^\[|\]/g, '')`,
  ),
  challenge(
    'A text is never null, so the condition is for the reader.',
    'if (recipient !== null && expected === recipient) return true;',
    'if (true && expected === recipient) return true;',
  ),
  challenge(
    'What is absent is no date, and a comparison with none is false.',
    'if (challenge.expires !== undefined && Date.parse(challenge.expires) <= now.getTime())',
    'if (true && Date.parse(challenge.expires) <= now.getTime())',
  ),
  challenge(
    'The table has no entry for what is null.',
    "(code === null ? undefined : refusedWithoutPolicy[code]) ?? 'policy_denied';",
    "(false ? undefined : refusedWithoutPolicy[code]) ?? 'policy_denied';",
  ),
  bankMessage(
    'A line without an id names no transfer either way.',
    'const transferId = line.endToEndId === null ? undefined : transferIdOf(line.endToEndId);',
    'const transferId = false ? undefined : transferIdOf(line.endToEndId);',
  ),
  verify(
    'A memo without its salt differs from its commitment in both cases.',
    "if (commitmentTo(memo, salt ?? '') !== memoCommitment)",
    'if (commitmentTo(memo, salt ?? "Stryker was here!") !== memoCommitment)',
  ),
  proof(
    'A seal of format 2 always has its time.',
    ": leafText(seal.sequence, seal.sealedAt ?? '', journal);",
    ': leafText(seal.sequence, seal.sealedAt ?? "Stryker was here!", journal);',
  ),
  proof(
    'The text of a head names the journals in both cases.',
    "const signed = { chain: chain === 'journals' ? undefined : chain, ownerId, sequence: size, hash: head, treeRoot };",
    'const signed = { chain: false ? undefined : chain, ownerId, sequence: size, hash: head, treeRoot };',
    'const signed = { chain: chain === "" ? undefined : chain, ownerId, sequence: size, hash: head, treeRoot };',
  ),
  proof(
    'A number or nothing is no list either once it is parsed, and a leaf with such facts is in no tree that was signed.',
    "const found = typeof text === 'string' ? parsed(text) : undefined;",
    'const found = true ? parsed(text) : undefined;',
  ),
  proof(
    'A function that ends returns undefined too.',
    '} catch (_noJson) { return undefined; }',
    '} catch (_noJson) {}',
  ),
  merchantChecks(
    'Figures are read as JSON, in which a figure that is undefined is absent.',
    'const figures = { merchant: merchantInWords(merchant), ...(entry === undefined ? {} : { entry }) };',
    'const figures = { merchant: merchantInWords(merchant), ...(false ? {} : { entry }) };',
  ),
  intentMatch(
    oneMisfit,
    "const nearest = halfFits.find(({ misfits }) => misfits[0]?.field === 'amount') ?? halfFits[0];",
    "const nearest = halfFits.find(({ misfits }) => misfits[0].field === 'amount') ?? halfFits[0];",
  ),
  intentMatch(
    oneMisfit,
    "const reason = nearest.misfits.map((misfit) => misfit.reason).join('; ');",
    'const reason = nearest.misfits.map((misfit) => misfit.reason).join("");',
  ),
  endpoint(
    'The facts have a next attempt exactly where deliveries wait: both conditions are true together.',
    'if (waiting === 0 || nextAttemptAt === null) return longestWaitMs;',
    'if (waiting === 0 && nextAttemptAt === null) return longestWaitMs;',
    'if (waiting === 0 || false) return longestWaitMs;',
    'if (false || nextAttemptAt === null) return longestWaitMs;',
  ),
  authorization(
    'It is asked only after a refusal, so the first condition is for the reader.',
    "if (outcome === 'allow' || !mayBeAllowedOnce(rule, outcome)) return undefined;",
    "if (outcome === 'allow' && !mayBeAllowedOnce(rule, outcome)) return undefined;",
    'if (false || !mayBeAllowedOnce(rule, outcome)) return undefined;',
    'if (outcome === "" || !mayBeAllowedOnce(rule, outcome)) return undefined;',
  ),
  authorization(
    'The rule with another name has no figures, as a rule that is not found.',
    'trace.findLast((entry) => entry.rule === rule || entry.rule === ruleNames[rule])?.figures ?? {};',
    'trace.findLast((entry) => entry.rule === rule || false)?.figures ?? {};',
  ),
  authorization(
    'The rule with another name has no figures, as a rule that is not found.',
    "const ruleNames: Readonly<Record<string, string>> = { intent_required: 'require_intent' };",
    'const ruleNames: Readonly<Record<string, string>> = {};',
    'const ruleNames: Readonly<Record<string, string>> = { intent_required: "" };',
  ),
  authorization(
    'A field that is absent and one that is undefined are read alike.',
    "if (match.outcome === 'none') return { candidate: undefined, mismatch: undefined };",
    "if (match.outcome === 'none') return {};",
  ),
  authorization(
    'An intent that stands twice in the list is found at its first place.',
    'return [...candidates.filter(isAttested), ...candidates.filter((one) => !isAttested(one))];',
    'return [...candidates.filter(isAttested), ...candidates];',
  ),
  authorization(
    'Each round ends by another limit, of which there are fewer than rounds; the bound only guards against a rule that contradicts itself.',
    'for (let round = 0; round < atMost; round++) {',
    'for (let round = 0; round < atMost; round--) {',
    'for (let round = 0; round <= atMost; round++) {',
  ),
  authorization(
    'A limit that refuses has less room than was asked, so this condition guards against a rule that contradicts itself.',
    'if (room === undefined || room <= facts.before.collectedCents || room >= amountCents) return undefined;',
    'if (room === undefined || room <= facts.before.collectedCents || false) return undefined;',
    'if (room === undefined || room <= facts.before.collectedCents || room > amountCents) return undefined;',
  ),
  authorization(
    'The trace is never empty, and where a person is asked its last entry is that of risk, which has no limit.',
    "if (outcome !== 'deny' || last === undefined) return undefined;",
    'if (false) return undefined;',
    "if (outcome !== 'deny' && last === undefined) return undefined;",
    'if (false || last === undefined) return undefined;',
    "if (outcome !== 'deny' || false) return undefined;",
  ),
  authorization(
    'The spent amount of a limit is a number where it is there.',
    "return typeof limit === 'number' && typeof spentCents === 'number' ? limit - spentCents : undefined;",
    "return typeof limit === 'number' && true ? limit - spentCents : undefined;",
  ),
  remedy(
    'Only a rule of a policy or of a card proposes a change of it, so there is one and the condition only narrows the type.',
    'return policy === null',
    'return false',
  ),
  remedy(
    'Only a rule of a policy or of a card proposes a change of it, so there is one and the condition only narrows the type.',
    'return card === undefined ? facts : { ...facts, spending: { ...facts.spending, card: { ...card, ...change(card) } } };',
    'return false ? facts : { ...facts, spending: { ...facts.spending, card: { ...card, ...change(card) } } };',
  ),
  remedy(
    'Only controls refuse by a list of theirs, so there are some and the condition only narrows the type.',
    'controls === null',
    'false',
  ),
  remedy(
    'Only a policy asks for an intent, so there is one and the condition only narrows the type.',
    'maxChargeCentsFor({ id: neededId, expectedAmountCents: amountCents }, policy?.amountTolerancePercent) >=',
    'maxChargeCentsFor({ id: neededId, expectedAmountCents: amountCents }, policy.amountTolerancePercent) >=',
  ),
  remedy(
    'Only a policy expires, so there is one and the condition only narrows the type.',
    'if (policy === null) return undefined;',
    'if (false) return undefined;',
  ),
  remedy(
    'A change of an entry that is not there helps no charge, so after all rounds nothing is proposed either.',
    'return entry === undefined ? undefined : step(entry);',
    'return false ? undefined : step(entry);',
  ),
  remedy(
    'A merchant is blocked only by an entry, so the condition only narrows the type.',
    "typeof entry === 'string' ? step(entry) : undefined;",
    'true ? step(entry) : undefined;',
  ),
  remedy(
    'The approval of a person helps against no risk that is too high, so after all rounds nothing is proposed either.',
    "risk: (facts, figures, decision) => (figures.outcome === 'review' ? approval(facts, figures, decision) : undefined),",
    'risk: (facts, figures, decision) => (true ? approval(facts, figures, decision) : undefined),',
  ),
  remedy(
    'The name of an intent that is only imagined is shown nowhere.',
    "const neededId = 'int_needed';",
    'const neededId = "";',
  ),
  increment(
    'Where the whole is granted, or no part is taken, the second evaluation gives the same decision as the first.',
    "if (whole.outcome !== 'declined' || !facts.partialSupported) return whole;",
    'if (false) return whole;',
    "if (whole.outcome !== 'declined' && !facts.partialSupported) return whole;",
    'if (false || !facts.partialSupported) return whole;',
  ),
  increment(
    'After a refusal of the whole, what is granted is a part.',
    "return part.outcome === 'partial' && part.approvedCents > beforeCents ? part : whole;",
    'return true && part.approvedCents > beforeCents ? part : whole;',
  ),
  ...['submitted', 'accepted', 'settled', 'returned', 'recalled', 'denied', 'rejected', 'cancelled', 'expired'].map(
    (stage) =>
      bankTransfer('No command has the name that was added.', `${stage}: [],`, `${stage}: ["Stryker was here"],`),
  ),
  bankTransfer(
    'A comparison with null is false, so the condition only narrows the type.',
    "return stage === 'sending' && sendingCause === cause && sendUntil !== null && realNow < sendUntil;",
    "return stage === 'sending' && sendingCause === cause && true && realNow < sendUntil;",
  ),
  bankTransfer(
    'It is noticed by every test that sends a transfer: no request would be in time.',
    'export const sendWithinMs = 10 * second;',
    'export const sendWithinMs = 10 / second;',
  ),
  delivery(
    'A text that is neither a number nor a date asks for nothing, as no text does.',
    "const text = header?.trim() ?? '';",
    'const text = header?.trim() ?? "Stryker was here!";',
  ),
  delivery(
    'The obsolete form of a date, with the whole name of the day, would be read as well; no receiver is asked sooner for it.',
    'const at = /^[A-Za-z]{3}, /.test(text) ? Date.parse(text) : Number.NaN;',
    'const at = /[A-Za-z]{3}, /.test(text) ? Date.parse(text) : Number.NaN;',
  ),
  delivery(
    'A comparison with null is false here, so the condition only narrows the type.',
    "if (status !== null && status >= 200 && status < 300) return { outcome: 'success', error: null };",
    "if (true && status >= 200 && status < 300) return { outcome: 'success', error: null };",
  ),
  delivery(
    'A comparison with null is false here, so the condition only narrows the type.',
    'if (status !== null && status >= 300 && status < 400) {',
    'if (true && status >= 300 && status < 400) {',
  ),
  increment(
    'The remedies know no change for it either, so there is none in both cases.',
    "const ofIntent: ReadonlySet<string> = new Set(['intent_required', 'auto_approve_limit', 'risk', 'over_ceiling']);",
    "const ofIntent: ReadonlySet<string> = new Set(['intent_required', 'auto_approve_limit', 'risk', \"\"]);",
  ),
  policyExpiry(
    'Without a policy there is no expiry, so the first condition only narrows the type.',
    "if (policy === null || expiresAt === null) return { kind: 'final' };",
    "if (false || expiresAt === null) return { kind: 'final' };",
  ),
  ...['completed', 'missed'].map((status) =>
    window('No command has the name that was added.', `${status}: [],`, `${status}: ["Stryker was here"],`),
  ),
  calendar(
    'In no year are the moon’s age 28 and the golden number 10.',
    'const isTooLate = moonAge === 29 || (moonAge === 28 && goldenNumber > 10);',
    'const isTooLate = moonAge === 29 || (moonAge === 28 && goldenNumber >= 10);',
  ),
  bankingDay(
    'The guesses are an hour apart, so the one that shows the time shows the date.',
    'return shown.date === date && shown.time === time;',
    'return true && shown.time === time;',
  ),
  webhook(
    'A receiver that has never failed has no failures in a row, so the first condition only narrows the type.',
    'if (health.failingSince === null || health.failuresInRow < failuresUntilDisabled) return undefined;',
    'if (false || health.failuresInRow < failuresUntilDisabled) return undefined;',
  ),
  passkey('Both are the same instant.', 'return end > at ? end : at;', 'return end >= at ? end : at;'),
  passkey(
    'It is noticed by every test of a ceremony: no challenge could be answered in time.',
    'export const challengeMs = 5 * minute;',
    'export const challengeMs = 5 / minute;',
  ),
  passkey(
    'The library writes the two words apart wherever it does not also say cross-origin.',
    "[/cross-origin|top ?origin/i, () => 'it was made inside a page of another origin'],",
    "[/cross-origin|top origin/i, () => 'it was made inside a page of another origin'],",
  ),
  ...[
    "?.hasToken68) fail('parameters follow a token68');",
    '?.parameters.has(name)) fail(`${name} occurs twice`);',
  ].map((rest) =>
    header(
      'A parameter is read only within a challenge, so there is always one.',
      `else if (current${rest}`,
      `else if (current${rest.slice(1)}`,
    ),
  ),
  header(
    'A parameter is read only within a challenge, so there is always one.',
    'else current?.parameters.set(name, value);',
    'else current.parameters.set(name, value);',
  ),
  header(
    'At the end of the line the loop finds nothing and ends.',
    'while (at < line.length) {',
    'while (at <= line.length) {',
  ),
  header(
    'What is read before it ends at a quote, at the end, or at a backslash that is last, so the sign adds nothing.',
    String.raw`const skipped = /(?:[^",]|"(?:[^"\\]|\\[\s\S])*(?:"|\\?$))*/y;`,
    String.raw`const skipped = /(?:[^",]|"(?:[^"\\]|\\[\s\S])*(?:"|\\?))*/y;`,
  ),
  bankEntry(
    'The text that was added is no reference, as no text is none.',
    String.raw`const written = (creditorReference ?? '').replace(/\s/g, '').toUpperCase();`,
    String.raw`const written = (creditorReference ?? "Stryker was here!").replace(/\s/g, '').toUpperCase();`,
  ),
  bankEntry(
    'The text that was added has no reference, as no text has none.',
    "const words = (text ?? '').toUpperCase().split(/[^0-9A-Z]+/);",
    'const words = (text ?? "Stryker was here!").toUpperCase().split(/[^0-9A-Z]+/);',
  ),
  push(
    'No number is null, and a comparison with null is false here, so the condition only narrows the type.',
    "if (status !== null && status >= 200 && status < 300) return { kind: 'delivered' };",
    "if (true && status >= 200 && status < 300) return { kind: 'delivered' };",
  ),
  push(
    'What is absent is neither digits nor a date, so the condition only narrows the type.',
    'if (header === null) return null;',
    'if (false) return null;',
  ),
  policyVersion(
    'The two values of one field are both lists, or neither is one.',
    'if (!isList(before) || !isList(after)) return before === after;',
    'if (!isList(before) && !isList(after)) return before === after;',
  ),
  policyVersion(
    'Words are made only of two values that differ.',
    "return `${name} was ${after > before ? 'raised' : 'lowered'} from ${unit(before)} to ${unit(after)}`;",
    "return `${name} was ${after >= before ? 'raised' : 'lowered'} from ${unit(before)} to ${unit(after)}`;",
  ),
  signature(
    'The text that was added is no signature, as no text is none.',
    "const [, seconds, version, hex] = form.exec(header ?? '') ?? [];",
    'const [, seconds, version, hex] = form.exec(header ?? "Stryker was here!") ?? [];',
  ),
  signature(
    'What was added stands in the first place, which is not read.',
    "const [, seconds, version, hex] = form.exec(header ?? '') ?? [];",
    `const [, seconds, version, hex] = form.exec(header ?? '') ?? ["Stryker was here"];`,
  ),
  signature(
    'A header of the right form has both parts, and any other has neither.',
    'if (seconds === undefined || hex === undefined) return undefined;',
    'if (seconds === undefined && hex === undefined) return undefined;',
    'if (false || hex === undefined) return undefined;',
    'if (seconds === undefined || false) return undefined;',
  ),
  signature(
    'What is absent has not the form of a digest, so the first condition only narrows the type.',
    'if (contentDigest === undefined || !digestForm.test(contentDigest)) return undefined;',
    'if (false || !digestForm.test(contentDigest)) return undefined;',
  ),
  signature(
    'Each adapter that is listed has its key, so the first condition only narrows the type.',
    "if (key === undefined || key === '') return false;",
    "if (false || key === '') return false;",
  ),
  merkle(
    'A tree of an odd size has the root of its last full subtree, so the default is never taken.',
    "for (let rest = this.count; rest % 2 === 1; rest = (rest - 1) / 2) hash = nodeHash(this.peaks.pop() ?? '', hash);",
    'for (let rest = this.count; rest % 2 === 1; rest = (rest - 1) / 2) hash = nodeHash(this.peaks.pop() ?? "Stryker was here!", hash);',
  ),
  merkle(
    'The place is always one of the level, so the default is never taken.',
    "const [left = '', right] = [level[at], level[at + 1]];",
    'const [left = "Stryker was here!", right] = [level[at], level[at + 1]];',
  ),
  merkle(
    'The standard has the condition; a path at whose place 0 no sibling can be is refused before it.',
    'while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, Math.floor(last / 2)];',
    'while (at % 2 === 0 && true) [at, last] = [at / 2, Math.floor(last / 2)];',
  ),
  recordChain(
    'What was sealed was made with a salt, so a text without its salt gives another commitment.',
    'if (salt !== null && recordCommitment(text, salt) === commitment) return [];',
    'if (true && recordCommitment(text, salt) === commitment) return [];',
  ),
  checkpoint(
    'A checkpoint has one head for each chain of an owner, so no two names are equal.',
    'const sorted = [...heads].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));',
    'const sorted = [...heads].sort((a, b) => (nameOf(a) <= nameOf(b) ? -1 : 1));',
  ),
  checkpoint(
    'The names of chains are in lower case, so the text that was added stands before them as no text does.',
    "const nameOf = ({ ownerId, chain = '' }: CheckpointHead): string => `${ownerId}/${chain}`;",
    'const nameOf = ({ ownerId, chain = "Stryker was here!" }: CheckpointHead): string => `${ownerId}/${chain}`;',
  ),
  seal(
    'Where there is no leaf the first comparison has failed.',
    ": leafHash(leafText(sequence, sealedAt ?? '', journal)) === leaf && sealOf(previous, leaf ?? '') === hash;",
    `: leafHash(leafText(sequence, sealedAt ?? '', journal)) === leaf && sealOf(previous, leaf ?? "Stryker was here!") === hash;`,
  ),
  seal(
    'A seal of format 2 always has its time.',
    ": leafHash(leafText(sequence, sealedAt ?? '', journal)) === leaf && sealOf(previous, leaf ?? '') === hash;",
    `: leafHash(leafText(sequence, sealedAt ?? "Stryker was here!", journal)) === leaf && sealOf(previous, leaf ?? '') === hash;`,
  ),
  nameMatch(
    'Only words of the index are looked up in it, so the default is never taken.',
    'return this.get(word) ?? [];',
    'return this.get(word) ?? ["Stryker was here"];',
  ),
  nameMatch(
    'Every word of the payee has its similar words, so the first lookup always finds them.',
    'scoreOf(words, entry.words, (one, other) => similar.get(one)?.get(other) ?? 0) * 100,',
    'scoreOf(words, entry.words, (one, other) => similar.get(one).get(other) ?? 0) * 100,',
  ),
  nameMatch(
    'Words that are not similar come last and add nothing.',
    `const pairs = shorter .flatMap((a, i) => longer.map((b, j) => ({ i, j, letters: a.length + b.length, words: \`\${a} \${b}\`, a, b }))) .map((pair) => ({ ...pair, value: shorter === one ? similarityOf(pair.a, pair.b) : similarityOf(pair.b, pair.a) })) .filter(({ value }) => value > 0)`,
    `const pairs = shorter.flatMap((a, i) => longer.map((b, j) => ({ i, j, letters: a.length + b.length, words: \`\${a} \${b}\`, a, b }))).map(pair => ({ ...pair, value: shorter === one ? similarityOf(pair.a, pair.b) : similarityOf(pair.b, pair.a) }))`,
  ),
  nameMatch(
    'Words that are not similar come last and add nothing.',
    '.filter(({ value }) => value > 0)',
    '.filter(({ value }) => true)',
    '.filter(({ value }) => value >= 0)',
  ),
  nameMatch(
    'Two pairs of the same words are worth the same, whichever comes first.',
    '.sort((p, q) => q.value - p.value || q.letters - p.letters || (p.words < q.words ? -1 : 1));',
    '.sort((p, q) => q.value - p.value || q.letters - p.letters || (p.words <= q.words ? -1 : 1));',
  ),
  nameMatch(
    'Names of the same words score the same whichever counts as the shorter; a difference of 0 is decided before.',
    "return difference === 0 ? one.toSorted().join(' ') <= other.toSorted().join(' ') : difference < 0;",
    "return difference === 0 ? one.toSorted().join(' ') < other.toSorted().join(' ') : difference < 0;",
    "return difference === 0 ? one.toSorted().join(' ') <= other.toSorted().join(' ') : difference <= 0;",
  ),
  nameMatch(
    'The index is made again and is the same; keeping it is the faster way.',
    'if (known !== undefined) return known;',
    'if (false) return known;',
  ),
  nameMatch('The index is made again and is the same; keeping it is the faster way.', 'indexes.set(list, index);', ';'),
  nameMatch(
    'A word that is not similar adds nothing to a score; leaving it out is the faster way.',
    'if (value > 0) found.set(other, value);',
    'if (true) found.set(other, value);',
    'if (value >= 0) found.set(other, value);',
  ),
  nameMatch(
    'What was added is not true, so no letter counts as taken.',
    'const taken: boolean[] = [];',
    'const taken: boolean[] = ["Stryker was here"];',
  ),
  nameMatch(
    'Beyond its end a word has no letter.',
    'for (let j = Math.max(0, i - reach); j <= Math.min(other.length - 1, i + reach); j++) {',
    'for (let j = Math.max(0, i - reach); j <= Math.min(other.length + 1, i + reach); j++) {',
  ),
  nameMatch(
    'Only the empty word comes in addition, which no name has.',
    'og ohg ood ooo oy oyj plc pte pty sa sarl sas se sl spa srl sro ug zao`.split(/\\s+/),',
    'og ohg ood ooo oy oyj plc pte pty sa sarl sas se sl spa srl sro ug zao`.split(/\\s/),',
  ),
  entry(
    'What was added stands in the first place, which is not read.',
    'const [, journal, line] = entryIdForm.exec(id) ?? [];',
    'const [, journal, line] = entryIdForm.exec(id) ?? ["Stryker was here"];',
  ),
  entry(
    'An id of the right form has both parts, and any other has neither.',
    'return journal === undefined || line === undefined ? undefined : { journalId: `jr_${journal}`, line: Number(line) };',
    'return journal === undefined && line === undefined ? undefined : { journalId: `jr_${journal}`, line: Number(line) };',
    'return false || line === undefined ? undefined : { journalId: `jr_${journal}`, line: Number(line) };',
    'return journal === undefined || false ? undefined : { journalId: `jr_${journal}`, line: Number(line) };',
  ),
  allowance(
    'A declined charge names its merchant, and the name that was added is that of none.',
    "return isSameName(asking.name ?? '', merchant.name);",
    'return isSameName(asking.name ?? "Stryker was here!", merchant.name);',
  ),
  allowOnce(
    'Any other outcome than the two helps as little as a refusal.',
    "trace.findLast((entry) => entry.rule === rule)?.outcome ?? 'deny';",
    'trace.findLast((entry) => entry.rule === rule)?.outcome ?? "";',
  ),
  fundingSource(
    'The text that was added names no funding source, as no text names none.',
    "const [kind, id] = (stored ?? '').split(':');",
    `const [kind, id] = (stored ?? "Stryker was here!").split(':');`,
  ),
  outcome(
    'No refusal has the name null, so the first condition only narrows the type.',
    'code !== null && isOwn(code) ? ownRefusals[code] : refusalErrorCode(code);',
    'true && isOwn(code) ? ownRefusals[code] : refusalErrorCode(code);',
  ),
  signingKey(
    'No two keys have one kid, and keys of one instant are compared by it alone.',
    'one.activeFrom.getTime() === other.activeFrom.getTime() ? one.kid > other.kid : one.activeFrom > other.activeFrom;',
    'one.activeFrom.getTime() === other.activeFrom.getTime() ? one.kid >= other.kid : one.activeFrom > other.activeFrom;',
    'one.activeFrom.getTime() === other.activeFrom.getTime() ? one.kid > other.kid : one.activeFrom >= other.activeFrom;',
  ),
  settledPosition(
    'A moment of the settled number only takes one of sixteen places until its holders end, and then settles nothing new.',
    'waiting = waiting.filter(({ drawn }) => drawn > through);',
    'waiting = waiting.filter(({ drawn }) => drawn >= through);',
  ),
  encryptionKey(
    'What is no object in a set of JSON has no kid, so it is not found.',
    "const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;",
    'const isObject = (value: unknown): value is Record<string, unknown> => true && value !== null;',
  ),
];
