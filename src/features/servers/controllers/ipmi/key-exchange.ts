import { hmac, isSame, type CipherSuite } from './cipher-suites'
import type { SessionKeys } from './packets'

// Messages of session setup (IPMI 2.0, sections 13.17 to 13.24). Readers return null for messages that they can't use.

/** What both sides contribute to a session. */
export interface Exchange {
  suite: CipherSuite
  user: string
  password: string
  /** Maximum privilege level of the session. */
  privilege: number
  consoleId: Uint8Array
  consoleRandom: Uint8Array
}

/** What the BMC contributes. */
export interface BmcPart {
  bmcId: Uint8Array
  bmcRandom: Uint8Array
  guid: Uint8Array
}

/** A response with a status other than 0 has no other fields. */
type Answer<T> = { status: number } & Partial<T>

/** The user is found by name alone, not by name and privilege. */
const nameOnly = 0x10

export const openSessionRequest = (tag: number, { suite, privilege, consoleId }: Exchange): Buffer =>
  Buffer.concat([
    Buffer.from([tag, privilege, 0, 0]),
    consoleId,
    ...[suite.algorithms.authentication, suite.algorithms.integrity, suite.algorithms.confidentiality].map((number, type) =>
      Buffer.from([type, 0, 0, 8, number, 0, 0, 0]),
    ),
  ])

/** `sameSuite`: whether the BMC chose the algorithms that were proposed. */
export function readOpenSession(
  payload: Buffer,
  tag: number,
  { suite, consoleId }: Exchange,
): Answer<{ bmcId: Buffer; sameSuite: boolean }> | null {
  const status = statusOf(payload, tag, consoleId)
  if (status !== 0) return status === null ? null : { status }
  if (payload.length < 36) return null
  const { authentication, integrity, confidentiality } = suite.algorithms
  const sameSuite = payload[16] === authentication && payload[24] === integrity && payload[32] === confidentiality
  return { status, bmcId: Buffer.from(payload.subarray(8, 12)), sameSuite }
}

export const rakp1 = (tag: number, exchange: Exchange, bmcId: Uint8Array): Buffer =>
  Buffer.concat([
    Buffer.from([tag, 0, 0, 0]),
    bmcId,
    exchange.consoleRandom,
    Buffer.from([roleOf(exchange), 0, 0, Buffer.byteLength(exchange.user)]),
    Buffer.from(exchange.user),
  ])

/** `knowsPassword`: whether the BMC has the same password for the user. */
export function readRakp2(
  payload: Buffer,
  tag: number,
  exchange: Exchange,
  bmcId: Uint8Array,
): Answer<{ part: BmcPart; knowsPassword: boolean }> | null {
  const { suite, consoleId, consoleRandom } = exchange
  const status = statusOf(payload, tag, consoleId)
  if (status !== 0) return status === null ? null : { status }
  if (payload.length < 40 + suite.hashLength) return null
  const part = { bmcId, bmcRandom: Buffer.from(payload.subarray(8, 24)), guid: Buffer.from(payload.subarray(24, 40)) }
  const expected = hmac(
    suite,
    passwordKey(exchange),
    consoleId,
    bmcId,
    consoleRandom,
    part.bmcRandom,
    part.guid,
    roleAndUser(exchange),
  )
  return { status, part, knowsPassword: isSame(expected, payload.subarray(40, 40 + suite.hashLength)) }
}

export const rakp3 = (tag: number, exchange: Exchange, { bmcId, bmcRandom }: BmcPart): Buffer =>
  Buffer.concat([
    Buffer.from([tag, 0, 0, 0]),
    bmcId,
    hmac(exchange.suite, passwordKey(exchange), bmcRandom, exchange.consoleId, roleAndUser(exchange)),
  ])

/** `keys` is null if the BMC derived others. */
export function readRakp4(
  payload: Buffer,
  tag: number,
  exchange: Exchange,
  { bmcId, bmcRandom, guid }: BmcPart,
): Answer<{ keys: SessionKeys | null }> | null {
  const { suite, consoleId, consoleRandom } = exchange
  const status = statusOf(payload, tag, consoleId)
  if (status !== 0) return status === null ? null : { status }
  if (payload.length < 8 + suite.macLength) return null
  const sessionKey = hmac(suite, passwordKey(exchange), consoleRandom, bmcRandom, roleAndUser(exchange))
  const expected = hmac(suite, sessionKey, consoleRandom, bmcId, guid).subarray(0, suite.macLength)
  if (!isSame(expected, payload.subarray(8, 8 + suite.macLength))) return { status, keys: null }
  const derived = (constant: number) => hmac(suite, sessionKey, Buffer.alloc(20, constant))
  return { status, keys: { suite, integrity: derived(1), encryption: derived(2).subarray(0, 16) } }
}

/** All responses start alike: tag, status, two reserved octets, and the session id of the console. */
function statusOf(payload: Buffer, tag: number, consoleId: Uint8Array): number | null {
  if (payload.length < 2 || payload[0] !== tag) return null
  const status = payload[1]!
  // After a failure, some BMCs omit the id.
  if (payload.length < 8) return status === 0 ? null : status
  return status !== 0 || payload.subarray(4, 8).equals(consoleId) ? status : null
}

const roleOf = ({ privilege }: Exchange): number => nameOnly | privilege

const roleAndUser = (exchange: Exchange): Buffer =>
  Buffer.concat([Buffer.from([roleOf(exchange), Buffer.byteLength(exchange.user)]), Buffer.from(exchange.user)])

/** Passwords are padded with zeros to 20 octets. */
function passwordKey({ password }: Exchange): Buffer {
  const key = Buffer.alloc(20)
  key.write(password)
  return key
}
