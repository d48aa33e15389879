import { crc32 } from 'node:zlib'
import { base62Alphabet, randomBase62 } from '../core/crypto'

/** What a token gives access to: `live` to the API; the others are ingest tokens, each scoped to one source. */
type TokenKind = 'live' | IngestTokenKind

/** The kinds of ingest token: dynamic IP source, deploy hook, remote probe, server agent, enrolment key for agents, calendar feed. */
export type IngestTokenKind = 'cal' | 'ddns' | 'hook' | 'probe' | 'agent' | 'enrol'

/**
 * Finds our tokens in any text. Published for secret scanners, which can use the checksum to drop false positives: the last six
 * of the 36 characters after the second underscore are the CRC-32 of the first thirty.
 */
export const tokenPattern = /\bbw_(?:live|cal|ddns|hook|probe|agent|enrol)_[0-9A-Za-z]{36}\b/

/** A new API token: `bw_live_`, 30 random base62 characters (178.6 bits), 6 of checksum. 44 characters. */
export function newApiToken(): string {
  return newToken('live')
}

/** A new ingest token: `bw_<kind>_` and the same 36 characters as an API token. */
export function newIngestToken(kind: IngestTokenKind): string {
  return newToken(kind)
}

/** Whether a text has the format and checksum of an API token. If not, no database query is needed. */
export function looksLikeApiToken(text: string): boolean {
  return hasForm(text, 'live')
}

/** Whether a text has the format and checksum of an ingest token of this kind. */
export function looksLikeIngestToken(text: string, kind: IngestTokenKind): boolean {
  return hasForm(text, kind)
}

/** The kind of a text that is one of our tokens by format and checksum, otherwise null. */
export function tokenKind(text: string): TokenKind | null {
  return kinds.find(kind => hasForm(text, kind)) ?? null
}

/** The masked form of a token shown after creation: its prefix, an ellipsis and the last four characters. */
export function tokenHint(token: string): string {
  return `${token.slice(0, token.indexOf('_', 3) + 1)}…${token.slice(-4)}`
}

const kinds: readonly TokenKind[] = ['live', 'cal', 'ddns', 'hook', 'probe', 'agent', 'enrol']
const randomLength = 30
const checksumLength = 6
const secret = /^[0-9A-Za-z]{36}$/

function newToken(kind: TokenKind): string {
  const random = randomBase62(randomLength)
  return `bw_${kind}_${random}${checksum(random)}`
}

function hasForm(text: string, kind: TokenKind): boolean {
  const start = kind.length + 4
  if (text.length !== start + randomLength + checksumLength || !text.startsWith(`bw_${kind}_`)) return false
  const tail = text.slice(start)
  return secret.test(tail) && checksum(tail.slice(0, randomLength)) === tail.slice(randomLength)
}

/** The CRC-32 (ISO 3309) of the characters in base62, most significant digit first, padded with zeros. */
function checksum(random: string): string {
  let rest = crc32(random)
  let digits = ''
  for (let at = 0; at < checksumLength; at++) {
    digits = (base62Alphabet[rest % 62] ?? '0') + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}
