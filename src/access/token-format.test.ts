import { expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  looksLikeApiToken,
  looksLikeIngestToken,
  newApiToken,
  newIngestToken,
  tokenHint,
  tokenKind,
  tokenPattern,
} from './token-format'
import type { IngestTokenKind } from './token-format'

const ingestKinds: IngestTokenKind[] = ['cal', 'ddns', 'hook', 'probe', 'agent', 'enrol']

test('an API token is bw_live_ and 36 base62 characters, 44 in total, and is recognized', () => {
  const token = newApiToken()
  expect(token).toMatch(/^bw_live_[0-9A-Za-z]{36}$/)
  expect(token).toHaveLength(44)
  expect(looksLikeApiToken(token)).toBe(true)
  expect(newApiToken()).not.toBe(token)
})

// The checksums were computed with zlib of Python's standard library.
test.each(['0'.repeat(30) + '2C8GjS', '0123456789ABCDEFGHIJKLMNOPQRST4PMbyp'])('%s ends in its CRC-32 in base62', secret => {
  expect(looksLikeApiToken(`bw_live_${secret}`)).toBe(true)
})

test('a single wrong character is detected', () => {
  const token = newApiToken()
  for (let at = 0; at < token.length; at++) {
    for (const other of ['0', 'q', 'Z', '_', '-', 'é']) {
      if (token[at] === other) continue
      expect(looksLikeApiToken(token.slice(0, at) + other + token.slice(at + 1))).toBe(false)
    }
  }
})

test('only tokens are recognized', () => {
  fc.assert(fc.property(fc.string(), text => !looksLikeApiToken(text) && !looksLikeApiToken(`bw_live_${text}`)))
  const token = newApiToken()
  for (const text of ['', 'bw_live_', ` ${token}`, `${token}\n`, `${token}0`, token.slice(0, -1), token.toUpperCase()]) {
    expect(looksLikeApiToken(text)).toBe(false)
    expect(tokenKind(text)).toBeNull()
  }
})

test('each kind of ingest token has its own prefix, and kinds are not confused', () => {
  for (const kind of ingestKinds) {
    const token = newIngestToken(kind)
    expect(token).toMatch(new RegExp(`^bw_${kind}_[0-9A-Za-z]{36}$`))
    expect(tokenKind(token)).toBe(kind)
    expect(looksLikeApiToken(token)).toBe(false)
    expect(ingestKinds.filter(other => looksLikeIngestToken(token, other))).toEqual([kind])
    expect(looksLikeIngestToken(newApiToken(), kind)).toBe(false)
  }
  expect(tokenKind(newApiToken())).toBe('live')
})

test('a hint contains only the prefix and the last four characters', () => {
  const token = newApiToken()
  expect(tokenHint(token)).toBe(`bw_live_…${token.slice(40)}`)
  expect(tokenHint(newIngestToken('agent'))).toMatch(/^bw_agent_…[0-9A-Za-z]{4}$/)
})

test('the published pattern finds tokens in text, and nothing shorter', () => {
  for (const token of [newApiToken(), ...ingestKinds.map(newIngestToken)]) {
    expect(`Authorization: Bearer ${token}\r\n`.match(tokenPattern)?.[0]).toBe(token)
    expect(`"${token.slice(0, -1)}"`).not.toMatch(tokenPattern)
  }
})
