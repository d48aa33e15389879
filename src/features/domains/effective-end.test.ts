import { expect, test } from 'bun:test'
import { effectiveEnd, type EndFacts } from './effective-end'

const day = 86_400_000
const at = (text: string) => Date.parse(text)
const now = at('2027-02-10')
const auto = ['auto renew period']
const redeemed = ['redemption period', 'pending delete']

const registry = (
  expires: string | null,
  statuses: string[] = ['active'],
  more: { registrar?: string; source?: 'rdap' | 'whois' } = {},
) => ({
  registry: {
    source: more.source ?? ('rdap' as const),
    statuses,
    expires_at: expires === null ? null : at(expires),
    registrar_expires_at: more.registrar === undefined ? null : at(more.registrar),
  },
})
const account = (expires: string | null, since = '2027-02-01') => ({
  account: { expires_at: expires === null ? null : at(expires), since: at(since) },
})
const known = (text: string) => ({ known: at(text) })
const given = (text: string) => ({ given: at(text) })

/** Each case: what is known, and the end with its source and confidence. The comments say where the rule comes from. */
const cases: [name: string, facts: Partial<EndFacts>, end: string | null, source: string | null, confidence: string][] = [
  // Order of sources.
  ['nothing is known', {}, null, null, 'unknown'],
  ['someone entered a date', given('2027-05-01'), '2027-05-01', 'given', 'given'],
  [
    'the registry hides it (DENIC, whois -h whois.denic.de)',
    { ...registry(null), ...given('2027-05-01') },
    '2027-05-01',
    'given',
    'given',
  ],
  ['the registry hides it, and no one entered it', registry(null), null, null, 'unknown'],
  [
    'WHOIS has it (ICANN RDDS: Registry Expiry Date)',
    registry('2027-05-01', ['active'], { source: 'whois' }),
    '2027-05-01',
    'whois',
    'likely',
  ],
  ['RDAP has it (RFC 9083 section 4.5, expiration)', registry('2027-05-01'), '2027-05-01', 'rdap', 'likely'],
  [
    'RDAP wins over a date that someone entered',
    { ...registry('2027-05-01'), ...given('2028-05-01') },
    '2027-05-01',
    'rdap',
    'likely',
  ],
  [
    'the registrar says it in RDAP (registrar expiration)',
    registry('2028-05-01', ['active'], { registrar: '2027-05-01' }),
    '2027-05-01',
    'rdap',
    'likely',
  ],
  ['the account wins over RDAP', { ...registry('2028-05-01'), ...account('2027-05-01') }, '2027-05-01', 'registrar', 'certain'],
  ['an account without a date says nothing', { ...registry('2027-05-01'), ...account(null) }, '2027-05-01', 'rdap', 'likely'],
  // The year that the registry adds by itself (RFC 3915 section 3.1, auto renew period).
  [
    'added year, date known before',
    { ...registry('2028-02-01', auto), ...known('2027-02-01') },
    '2027-02-01',
    'rdap',
    'provisional',
  ],
  ['added year, seen for the first time', registry('2028-02-01', auto), '2027-02-01', 'rdap', 'provisional'],
  [
    'added year, known end on February 29',
    { ...registry('2029-02-28', auto), ...known('2028-02-29') },
    '2028-02-29',
    'rdap',
    'provisional',
  ],
  [
    'added year that became March 1',
    { ...registry('2029-03-01', auto), ...known('2028-02-29') },
    '2028-02-29',
    'rdap',
    'provisional',
  ],
  [
    'the registrar confirms the added year',
    { ...registry('2028-02-01', auto, { registrar: '2028-02-01' }), ...known('2027-02-01') },
    '2028-02-01',
    'rdap',
    'likely',
  ],
  [
    'the account confirms the added year',
    { ...registry('2028-02-01', auto), ...account('2028-02-01'), ...known('2027-02-01') },
    '2028-02-01',
    'registrar',
    'certain',
  ],
  [
    'the account confirmed the added year more than 45 days ago',
    { ...registry('2028-02-01', auto), ...account('2028-02-01', '2026-12-20'), ...known('2027-02-01') },
    '2028-02-01',
    'registrar',
    'certain',
  ],
  ['the period ended, so it was renewed', { ...registry('2028-02-01'), ...known('2027-02-01') }, '2028-02-01', 'rdap', 'likely'],
  [
    'deleted in the period: the registry still has the added year',
    { ...registry('2028-02-01', redeemed), ...known('2027-02-01') },
    '2027-02-01',
    'rdap',
    'provisional',
  ],
  // The registry is slower than the registrar, or the renewal never reached it.
  [
    'renewed at the registrar, the registry is slow',
    { ...registry('2027-03-01'), ...account('2028-03-01') },
    '2028-03-01',
    'registrar',
    'certain',
  ],
  [
    'renewed at the registrar 46 days ago, but not at the registry',
    { ...registry('2027-03-01'), ...account('2028-03-01', '2026-12-25') },
    '2027-03-01',
    'rdap',
    'likely',
  ],
  [
    'renewed for two years in the period',
    { ...registry('2029-02-01', auto), ...known('2027-02-01') },
    '2028-02-01',
    'rdap',
    'provisional',
  ],
]

for (const [name, facts, end, source, confidence] of cases)
  test(name, () => {
    const found = effectiveEnd({ account: null, registry: null, given: null, known: null, ...facts }, now)
    expect({ ...found, at: found.at === null ? null : new Date(found.at).toISOString().slice(0, 10), hint: null }).toEqual({
      ...{ at: end, source, confidence, hint: null },
    } as never)
  })

test('a hint says what helps', () => {
  const hintOf = (facts: Partial<EndFacts>) =>
    effectiveEnd({ account: null, registry: null, given: null, known: null, ...facts }, now).hint
  expect(hintOf({})).toBeNull()
  expect(hintOf(registry(null))).toContain('Enter it')
  expect(hintOf(registry('2028-02-01', auto))).toContain('added a year')
  expect(hintOf({ ...registry('2027-03-01'), ...account('2028-03-01', '2026-12-25') })).toBe(
    'The registrar says 2028-03-01, but the registry still has 2027-03-01. Ask the registrar whether the renewal succeeded.',
  )
  expect(hintOf({ ...registry('2027-03-01'), ...account('2028-03-01') })).toBeNull()
})

test('the date of the registrar is believed for exactly 45 days', () => {
  const facts = {
    registry: registry('2027-03-01').registry,
    account: account('2028-03-01', '2027-01-01').account,
    given: null,
    known: null,
  }
  const source = (time: number) => effectiveEnd(facts, time).source
  expect(source(at('2027-01-01') + 45 * day - 1)).toBe('registrar')
  expect(source(at('2027-01-01') + 45 * day)).toBe('rdap')
})
