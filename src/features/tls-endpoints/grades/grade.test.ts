import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { neverTested, type SentChain } from '../../../checks/tls-probe/facts'
import { parsedOrNull, trustStore } from '../../../core/x509/chain'
import { makeCertificate } from '../../../../test/support/make-certificates'
import { goodChain, scannedAt, serverWith, type ServerDraft, type SuiteName } from '../../../../test/support/tls-facts'
import { compareGrades, gradeLetters, gradeOf, gradeRules, isNotable, ruleNames, worstGrade, type GradeLetter } from './grade'
import { packed, unpacked } from '../scans/stored-report'
import { readChain } from './chain-facts'
import { reportOf } from './report'
import { effects } from './rule'

const day = 86_400_000
const tls13: SuiteName[] = ['TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256', 'TLS_AES_128_GCM_SHA256']
const rsaAead: SuiteName[] = ['TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384', 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256']
const rsa = { key: { type: 'rsa' as const, bits: 2048, exponent: 65537n } }
const rsaKey = (bits: number, exponent = 65537n) => [{ key: { type: 'rsa' as const, bits, exponent } }]
const modern = {
  '1.2': ['TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384', 'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256'],
  '1.3': tls13,
} satisfies ServerDraft['offers']
const hsts = (max_age_seconds: number) => ({
  http: { status: 200, hsts: { max_age_seconds, include_subdomains: false, preload: false } },
})
const http = { http: { status: 200, hsts: null } }

const sentChain: SentChain = { certificates: [new Uint8Array(1)], count: 1, versions: ['1.3'], authentications: ['any'] }

type Case = [what: string, server: ServerDraft, grade: GradeLetter, score: number, rules: string]

/** Servers with their grades. Where testssl 3.3 gives another grade, the comment names the rule of the SSL Labs guide that decides. */
const cases: Case[] = [
  ['TLS 1.3 alone', { offers: { '1.3': tls13 } }, 'A+', 96, ''],
  ['TLS 1.2 and 1.3 with ECDSA, without HTTP', { offers: modern }, 'A+', 96, ''],
  ['only suites with 256 bits', { offers: { '1.3': ['TLS_AES_256_GCM_SHA384'] } }, 'A+', 100, ''],
  ['TLS 1.2 and 1.3 with HSTS for a year', { offers: modern, facts: hsts(31_536_000) }, 'A+', 96, ''],
  ['HSTS for exactly 180 days', { offers: modern, facts: hsts(180 * 86_400) }, 'A+', 96, ''],
  ['HTTPS without HSTS', { offers: modern, facts: http }, 'A-', 96, 'no_hsts'],
  ['HSTS for 90 days', { offers: modern, facts: hsts(90 * 86_400) }, 'A-', 96, 'short_hsts'],
  ['HSTS for 0 seconds', { offers: modern, facts: hsts(0) }, 'A-', 96, 'short_hsts'],
  ['SMTP, where HSTS does not apply', { offers: modern, facts: { protocol: 'smtp', port: 25 } }, 'A+', 96, ''],
  ['TLS 1.2 alone with RSA 2048', { offers: { '1.2': rsaAead }, chains: [rsa] }, 'A-', 93, 'no_tls13'],
  ['TLS 1.2 alone with RSA 4096', { offers: { '1.2': rsaAead }, chains: rsaKey(4096) }, 'A-', 96, 'no_tls13'],
  [
    'a certificate that can’t be read',
    { offers: modern, facts: { chains: [sentChain] }, chains: [] },
    'T',
    0,
    'unreadable_certificate',
  ],
  [
    'a certificate that can’t be read, next to one that can',
    { offers: modern, facts: { chains: [sentChain, sentChain] } },
    'T',
    0,
    'unreadable_certificate',
  ],
  ['RSA and ECDSA certificates', { offers: { '1.2': rsaAead, '1.3': tls13 }, chains: [{}, rsa] }, 'A+', 93, ''],
  [
    'no forward secrecy',
    { offers: { '1.2': ['TLS_RSA_WITH_AES_256_GCM_SHA384', 'TLS_RSA_WITH_AES_128_GCM_SHA256'] }, chains: [rsa] },
    'B',
    93,
    'no_forward_secrecy no_tls13',
  ],
  [
    'forward secrecy for some clients',
    { offers: { '1.2': [...rsaAead, 'TLS_RSA_WITH_AES_128_GCM_SHA256'], '1.3': tls13 }, chains: [rsa] },
    'A+',
    93,
    '',
  ],
  // testssl: A-. Guide: servers without AEAD suites get B at most.
  [
    'no authenticated encryption',
    { offers: { '1.2': ['TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA384', 'TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256'] }, chains: [rsa] },
    'B',
    93,
    'no_aead no_tls13',
  ],
  // testssl: A- with 97. Guide: keys and parameters below 2048 bits give 80 points, and B at most.
  [
    'DH parameters with 1024 bits',
    { offers: { '1.2': ['TLS_DHE_RSA_WITH_AES_256_GCM_SHA384'] }, dhBits: 1024, chains: [rsa] },
    'B',
    94,
    'weak_key_exchange no_tls13',
  ],
  [
    'DH parameters with 768 bits',
    { offers: { '1.2': ['TLS_DHE_RSA_WITH_AES_256_GCM_SHA384'] }, dhBits: 768, chains: [rsa] },
    'F',
    82,
    'insecure_key_exchange no_tls13',
  ],
  [
    'DH parameters with 256 bits',
    { offers: { '1.2': ['TLS_DHE_RSA_WITH_AES_256_GCM_SHA384'] }, dhBits: 256, chains: [rsa] },
    'F',
    76,
    'insecure_key_exchange no_tls13',
  ],
  ['RSA key with 1024 bits', { offers: { '1.2': rsaAead, '1.3': tls13 }, chains: rsaKey(1024) }, 'B', 90, 'weak_key_exchange'],
  ['RSA key with 512 bits', { offers: { '1.2': rsaAead, '1.3': tls13 }, chains: rsaKey(512) }, 'F', 78, 'insecure_key_exchange'],
  ['RSA key with exponent 1', { offers: { '1.3': tls13 }, chains: rsaKey(2048, 1n) }, 'F', 0, 'rsa_exponent'],
  [
    'a curve with 160 bits',
    { offers: modern, facts: { groups: [{ id: 16, name: 'secp160r1', kind: 'ec', bits: 160 }] } },
    'B',
    90,
    'weak_key_exchange',
  ],
  [
    'a hybrid group',
    { offers: modern, facts: { groups: [{ id: 4588, name: 'X25519MLKEM768', kind: 'hybrid', bits: 256 }] } },
    'A+',
    96,
    '',
  ],
  // testssl with OpenSSL 3 does not see 3DES: A-. Guide: blocks of 64 bits with TLS 1.1 or later give C at most, 112 bits 20 points.
  [
    '3DES with TLS 1.2',
    { offers: { '1.2': ['TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384', 'TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA'] }, chains: [rsa] },
    'C',
    81,
    'short_blocks no_tls13',
  ],
  [
    '3DES with TLS 1.0 alone',
    { offers: { '1.0': ['TLS_RSA_WITH_3DES_EDE_CBC_SHA'], '1.2': rsaAead, '1.3': tls13 }, chains: [rsa] },
    'B',
    79,
    'tls10',
  ],
  // testssl: B. Guide: RC4 with TLS 1.1 or later gives C at most.
  [
    'RC4 with TLS 1.0, 1.1, and 1.2',
    {
      offers: {
        '1.0': ['TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA', 'TLS_RSA_WITH_RC4_128_SHA'],
        '1.1': ['TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA', 'TLS_RSA_WITH_RC4_128_SHA'],
        '1.2': ['TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384', 'TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA', 'TLS_RSA_WITH_RC4_128_SHA'],
      },
      chains: [rsa],
    },
    'C',
    91,
    'rc4_modern tls10 tls11 no_tls13',
  ],
  [
    'RC4 with TLS 1.0 alone',
    { offers: { '1.0': ['TLS_ECDHE_RSA_WITH_RC4_128_SHA'], '1.2': rsaAead, '1.3': tls13 }, chains: [rsa] },
    'B',
    91,
    'tls10 rc4',
  ],
  [
    'SSL 3.0 alone',
    { offers: { ssl3: ['TLS_RSA_WITH_RC4_128_SHA', 'TLS_RSA_WITH_AES_128_CBC_SHA'] }, chains: [rsa] },
    'F',
    83,
    'ssl3_best no_tls12 poodle no_forward_secrecy no_aead rc4 no_tls13',
  ],
  [
    'SSL 3.0 with newer versions',
    { offers: { ssl3: ['TLS_RSA_WITH_AES_128_CBC_SHA'], '1.2': rsaAead, '1.3': tls13 }, chains: [rsa] },
    'C',
    90,
    'poodle ssl3',
  ],
  [
    'SSL 3.0 without CBC',
    { offers: { ssl3: ['TLS_RSA_WITH_RC4_128_SHA'], '1.2': rsaAead, '1.3': tls13 }, chains: [rsa] },
    'B',
    90,
    'ssl3 rc4',
  ],
  ['SSL 2.0', { offers: { ssl2: ['SSL_CK_RC4_128_WITH_MD5'], '1.2': rsaAead, '1.3': tls13 }, chains: [rsa] }, 'F', 0, 'ssl2 rc4'],
  [
    'TLS 1.0 to 1.3',
    {
      offers: {
        '1.0': ['TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA'],
        '1.1': ['TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA'],
        '1.2': rsaAead,
        '1.3': tls13,
      },
      chains: [rsa],
    },
    'B',
    91,
    'tls10 tls11',
  ],
  [
    'TLS 1.1 and 1.2',
    { offers: { '1.1': ['TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA'], '1.2': rsaAead }, chains: [rsa] },
    'B',
    92,
    'tls11 no_tls13',
  ],
  [
    'TLS 1.0 alone',
    { offers: { '1.0': ['TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA'] }, chains: [rsa] },
    'C',
    86,
    'no_tls12 tls10 no_aead no_tls13',
  ],
  [
    'suites without encryption',
    { offers: { '1.2': ['TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384', 'TLS_RSA_WITH_NULL_SHA256'] }, chains: [rsa] },
    'F',
    0,
    'null_cipher no_tls13',
  ],
  // testssl: A- with 97. Guide: anonymous key exchange gives 0 points, and F.
  [
    'anonymous suites',
    { offers: { '1.2': ['TLS_DH_anon_WITH_AES_256_GCM_SHA384', 'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384'] }, chains: [rsa] },
    'F',
    0,
    'anonymous_cipher no_tls13',
  ],
  [
    'anonymous suites with DH parameters of 1024 bits',
    { offers: { '1.2': ['TLS_DH_anon_WITH_AES_256_GCM_SHA384', ...rsaAead] }, dhBits: 1024, chains: [rsa] },
    'F',
    0,
    'anonymous_cipher weak_key_exchange no_tls13',
  ],
  [
    'export suites and DES',
    {
      offers: {
        '1.0': ['TLS_RSA_EXPORT_WITH_RC4_40_MD5', 'TLS_RSA_WITH_DES_CBC_SHA', 'TLS_RSA_WITH_AES_128_CBC_SHA'],
        '1.2': ['TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384'],
      },
      chains: [rsa],
    },
    'F',
    64,
    'export_cipher weak_cipher insecure_key_exchange tls10 rc4 no_tls13',
  ],
  [
    'DES with TLS 1.2',
    { offers: { '1.2': ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', 'TLS_RSA_WITH_DES_CBC_SHA'], '1.3': tls13 }, chains: [rsa] },
    'F',
    81,
    'weak_cipher short_blocks',
  ],
  [
    'compression',
    { offers: { '1.2': rsaAead, '1.3': tls13 }, facts: { compression: true }, chains: [rsa] },
    'C',
    93,
    'compression',
  ],
  ['compression that could not be tested', { offers: modern, facts: { compression: null } }, 'A+', 96, ''],
  ['no secure renegotiation', { offers: modern, facts: { secure_renegotiation: false } }, 'A-', 96, 'insecure_renegotiation'],
  ['an expired certificate', { offers: modern, chains: [{ not_after: scannedAt - day }] }, 'T', 0, 'expired'],
  ['a certificate that expires in this second', { offers: modern, chains: [{ not_after: scannedAt }] }, 'A+', 96, ''],
  ['a certificate of tomorrow', { offers: modern, chains: [{ not_before: scannedAt + day }] }, 'T', 0, 'not_yet_valid'],
  ['a self-signed certificate', { offers: modern, chains: [{ trust: 'self_signed' }] }, 'T', 0, 'self_signed'],
  ['an unknown authority', { offers: modern, chains: [{ trust: 'untrusted' }] }, 'T', 0, 'untrusted'],
  ['an authority of the workspace', { offers: modern, chains: [{ trust: 'private' }] }, 'A+', 96, ''],
  ['a revoked certificate', { offers: modern, chains: [{ revoked: true }] }, 'T', 0, 'revoked'],
  ['another name', { offers: modern, chains: [{ covers_host: false }] }, 'M', 0, 'name_mismatch'],
  [
    'another name, and expired',
    { offers: modern, chains: [{ covers_host: false, not_after: 0 }] },
    'T',
    0,
    'expired name_mismatch',
  ],
  ['a bad second certificate', { offers: modern, chains: [{}, { ...rsa, trust: 'untrusted' }] }, 'T', 0, 'untrusted'],
  [
    'a SHA-1 signature',
    { offers: modern, chains: [{ signatures: [{ subject: 'Example CA', hash: 'sha1' }] }] },
    'T',
    0,
    'sha1_signature',
  ],
  [
    'an MD5 signature',
    { offers: modern, chains: [{ signatures: [{ subject: 'Example CA', hash: 'md5' }] }] },
    'F',
    0,
    'md5_signature',
  ],
  ['a missing intermediate certificate', { offers: modern, chains: [{ sent: 'incomplete' }] }, 'B', 96, 'chain_incomplete'],
  [
    'intermediate certificates in the wrong order',
    { offers: modern, chains: [{ sent: 'misordered' }] },
    'B',
    96,
    'chain_misordered',
  ],
  ['certificates that nobody needs', { offers: modern, chains: [{ sent: 'superfluous' }] }, 'A+', 96, ''],
]

describe('grades', () => {
  for (const [what, draft, grade, score, rules] of cases)
    test(what, () => {
      const { facts, chains } = serverWith(draft)
      const graded = gradeOf(facts, chains)
      expect({ grade: graded.grade, score: graded.score, rules: graded.reasons.map(one => one.rule).join(' ') }).toEqual({
        grade,
        score,
        rules,
      })
    })

  test('every rule has a server that violates it', () => {
    const violated = new Set(cases.flatMap(([, , , , rules]) => rules.split(' ')))
    expect(ruleNames.filter(rule => !violated.has(rule))).toEqual([])
  })

  test('a version that could not be tested allows no A+, and is not reported as missing', () => {
    const { facts, chains } = serverWith({ offers: { '1.2': rsaAead }, chains: [rsa] })
    facts.versions['1.3'] = { status: 'not_tested' }
    expect(gradeOf(facts, chains)).toMatchObject({ grade: 'A', reasons: [] })
  })

  test.each(['http', 'chain', 'order', 'groups', 'options', 'versions'] as const)('a failed step (%s) allows no A+', phase => {
    const errors = [{ phase, version: null, kind: 'timeout' as const, message: 'timed out' }]
    const { facts, chains } = serverWith({ offers: modern, facts: { errors } })
    expect(gradeOf(facts, chains)).toMatchObject({ grade: 'A', reasons: [] })
  })

  test('reasons have evidence, the most serious first', () => {
    const { facts, chains } = serverWith({
      offers: { '1.0': ['TLS_RSA_WITH_3DES_EDE_CBC_SHA'], '1.2': ['TLS_RSA_WITH_3DES_EDE_CBC_SHA'] },
      chains: [{ ...rsa, not_after: scannedAt - 3 * day }],
    })
    expect(gradeOf(facts, chains).reasons.slice(0, 3)).toEqual([
      {
        rule: 'expired',
        effect: 'T',
        detail: 'The certificate www.example.com expired on 2026-11-24.',
        evidence: { certificates: ['www.example.com'] },
      },
      {
        rule: 'short_blocks',
        effect: 'C',
        detail: 'The server offers 1 suite with blocks of 64 bits.',
        evidence: { suites: ['TLS_RSA_WITH_3DES_EDE_CBC_SHA'] },
      },
      { rule: 'tls10', effect: 'B', detail: 'The server offers TLS 1.0.', evidence: { versions: ['TLS 1.0'] } },
    ])
  })

  test('names of a certificate are cut', () => {
    const names = Array.from({ length: 10_000 }, (_, at) => `${at}.example.com`)
    const { facts, chains } = serverWith({ offers: modern, chains: [{ ...goodChain, covers_host: false, names }] })
    expect(gradeOf(facts, chains).reasons[0]!.detail).toEndWith('4.example.com, 9995 other names.')
  })
})

test('profiles', () => {
  const profileOf = (draft: ServerDraft) => {
    const { facts, chains } = serverWith(draft)
    return gradeOf(facts, chains).profile
  }
  expect(profileOf({ offers: { '1.3': tls13 } })).toBe('modern')
  expect(profileOf({ offers: { '1.3': tls13 }, chains: [rsa] })).toBe('intermediate')
  expect(profileOf({ offers: modern })).toBe('intermediate')
  expect(profileOf({ offers: { '1.2': rsaAead, '1.3': tls13 }, chains: rsaKey(1024) })).toBe('none')
  expect(profileOf({ offers: { '1.0': ['TLS_RSA_WITH_AES_128_CBC_SHA'], '1.2': rsaAead }, chains: [rsa] })).toBe('old')
  expect(profileOf({ offers: { '1.2': ['TLS_ECDHE_RSA_WITH_RC4_128_SHA'] }, chains: [rsa] })).toBe('none')
  expect(profileOf({ offers: { ssl3: ['TLS_RSA_WITH_AES_128_CBC_SHA'] }, chains: [rsa] })).toBe('none')
})

test('a server with more suites and versions never gets a better grade', () => {
  const suite = fc.constantFrom<SuiteName>(
    ...rsaAead,
    'TLS_RSA_WITH_AES_128_CBC_SHA',
    'TLS_RSA_WITH_RC4_128_SHA',
    'TLS_RSA_WITH_DES_CBC_SHA',
  )
  const more = fc.record({ version: fc.constantFrom('ssl3' as const, '1.0' as const, '1.1' as const), suite })
  fc.assert(
    fc.property(fc.array(more, { maxLength: 6 }), added => {
      const offers: ServerDraft['offers'] = { '1.2': rsaAead, '1.3': tls13 }
      const of = () => {
        const { facts, chains } = serverWith({ offers, chains: [rsa] })
        return gradeOf(facts, chains).grade
      }
      let last = of()
      for (const { version, suite: name } of added) {
        offers[version] = [...new Set([...(offers[version] ?? []), name])]
        const next = of()
        expect(compareGrades(next, last)).toBeGreaterThanOrEqual(0)
        last = next
      }
    }),
  )
})

test('an event is sent if the grade gets worse, or reaches A', () => {
  expect(isNotable('B', 'A-')).toBe(true)
  expect(isNotable('T', 'M')).toBe(true)
  expect(isNotable('A-', 'B')).toBe(true)
  expect(isNotable('A+', 'A-')).toBe(false)
  expect(isNotable('A-', 'A+')).toBe(true)
  // Incomplete scans.
  expect(isNotable('A', 'A+')).toBe(false)
  expect(isNotable('A-', 'A')).toBe(false)
  expect(isNotable('B', 'A')).toBe(true)
  expect(isNotable('B', 'C')).toBe(false)
  expect(isNotable('B', 'B')).toBe(false)
  expect(worstGrade(['A+', 'C', 'B'])).toBe('C')
  expect(worstGrade([])).toBeNull()
})

test('a server whose certificate is unknown has no grade', () => {
  const errors = [{ phase: 'chain' as const, version: null, kind: 'timeout' as const, message: 'timed out' }]
  const of = (offers: ServerDraft['offers'], facts: ServerDraft['facts']) =>
    reportOf([{ address: '192.0.2.1', facts: serverWith({ offers, facts }).facts, chains: [] }])
  expect(of({ '1.3': tls13 }, { errors })).toMatchObject({
    grade: null,
    error: 'The certificate could not be retrieved: timed out.',
    addresses: [{ grade: null, versions: { length: 6 } }],
  })
  expect(of({ '1.2': rsaAead }, {}).error).toBe('The certificate could not be retrieved.')
  expect(of({ '1.2': ['TLS_DH_anon_WITH_AES_256_GCM_SHA384'] }, {}).grade).toBe('F')
})

test('what servers send is stored up to a limit', async () => {
  const { der } = await makeCertificate({ names: [`${'a.'.repeat(2000)}test`] })
  const chain = (await readChain([parsedOrNull(der)], ['1.3'], 'a.test', { roots: trustStore([]), known: [], now: scannedAt }))!
  expect(chain.facts.names[0]).toHaveLength(253)
  const { facts } = serverWith({ offers: modern, facts: { chains: [sentChain] } })
  const report = (sent: number) => {
    const long = { ...chain, sent: Array.from({ length: sent }, () => chain.sent[0]!) }
    return reportOf(Array.from({ length: 8 }, () => ({ address: '192.0.2.1', facts, chains: Array(6).fill(long) })))
  }
  const small = report(2)
  expect(await unpacked(await packed(small))).toEqual(small)
  const cut = await unpacked(await packed(report(200)))
  expect(JSON.stringify(cut).length).toBeLessThan(512 * 1024)
  expect(cut.addresses[0]!.chains[0]!.sent).toHaveLength(1)
  expect(cut.addresses[0]!.versions).toEqual(small.addresses[0]!.versions)
})

test('rules have texts for people', () => {
  for (const rule of Object.values(gradeRules)) {
    for (const text of [rule.meaning, rule.fix]) expect(text).toMatch(/^[A-Z].*\.$/)
    expect(rule.title).not.toEndWith('.')
    expect(effects).toContain(rule.effect)
  }
  expect(neverTested.length).toBeGreaterThan(0)
  expect(gradeLetters.at(-1)).toBe('T')
})
