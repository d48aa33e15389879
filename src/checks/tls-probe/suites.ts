import type { Authentication, CipherMode, CipherSuite, KeyExchange } from './facts'
import { registeredSuites, unregisteredSuites } from './suite-table'

/** `bits` only where the name does not say it. */
const ciphers: Record<string, { name?: string; bits?: number; block: 64 | 128 | null }> = {
  AES: { block: 128 },
  // Forgery limits aside, AEGIS has no blocks.
  AEGIS: { block: null },
  ARIA: { block: 128 },
  CAMELLIA: { block: 128 },
  SEED: { bits: 128, block: 128 },
  SM4: { bits: 128, block: 128 },
  CHACHA20: { bits: 256, block: null },
  KUZNYECHIK: { bits: 256, block: 128 },
  MAGMA: { bits: 256, block: 64 },
  28147: { name: 'GOST28147', bits: 256, block: 64 },
  // Meet-in-the-middle attacks reduce the strength of three keys of 56 bits (NIST SP 800-57 part 1).
  '3DES': { bits: 112, block: 64 },
  DES: { bits: 56, block: 64 },
  DES40: { name: 'DES', bits: 40, block: 64 },
  IDEA: { bits: 128, block: 64 },
  RC2: { block: 64 },
  RC4: { block: null },
}

const secretLater = new Set<KeyExchange>(['dhe', 'dhe_export', 'ecdhe', 'srp', 'eccpwd', 'any'])

/** Suites of SSLv2 (SSL 0.2 protocol specification, section 4.3). RSA is their only key exchange. */
const suitesOfSsl2: [id: number, name: string, cipher: string][] = [
  [0x010080, 'SSL_CK_RC4_128_WITH_MD5', 'RC4_128'],
  [0x020080, 'SSL_CK_RC4_128_EXPORT40_WITH_MD5', 'RC4_40'],
  [0x030080, 'SSL_CK_RC2_128_CBC_WITH_MD5', 'RC2_CBC_128'],
  [0x040080, 'SSL_CK_RC2_128_CBC_EXPORT40_WITH_MD5', 'RC2_CBC_40'],
  [0x050080, 'SSL_CK_IDEA_128_CBC_WITH_MD5', 'IDEA'],
  [0x060040, 'SSL_CK_DES_64_CBC_WITH_MD5', 'DES'],
  [0x0700c0, 'SSL_CK_DES_192_EDE3_CBC_WITH_MD5', '3DES'],
  [0x080080, 'SSL_CK_RC4_64_WITH_MD5', 'RC4_64'],
]

/** Cipher suites by number: two octets, or three in SSLv2. */
export const suiteOf: ReadonlyMap<number, CipherSuite> = new Map(
  [
    ...`${registeredSuites}${unregisteredSuites}`
      .trim()
      .split(/\n+/)
      .map(line => suiteNamed(Number.parseInt(line.slice(0, 4), 16), line.slice(5))),
    ...suitesOfSsl2.map(([id, name, cipher]) => suiteOfSsl2(id, name, cipher)),
  ].map(one => [one.id, one]),
)

/** Numbers of the suites of SSLv2. */
export const suites2: readonly number[] = suitesOfSsl2.map(([id]) => id)

// Some servers follow the preferences of clients, so the best ones are first.
const offered = [...suiteOf.values()].filter(one => one.id <= 0xffff).sort((a, b) => preference(b) - preference(a))
const isOf13 = (one: CipherSuite): boolean => one.key_exchange === 'any'

/** Numbers of the suites to offer in TLS 1.3, the best first. */
export const suites13: readonly number[] = offered.filter(isOf13).map(one => one.id)
/** Numbers of the suites to offer in older versions, from SSLv3. */
export const suitesBefore13: readonly number[] = offered.filter(one => !isOf13(one)).map(one => one.id)

function preference(one: CipherSuite): number {
  const known = one.authentication === 'rsa' || one.authentication === 'ecdsa' || one.authentication === 'any'
  return (
    (known ? 4000 : 0) + (one.forward_secrecy ? 2000 : 0) + (one.mode === 'aead' ? 1000 : one.mode === 'cbc' ? 500 : 0) + one.bits
  )
}

/** Reads the properties of a suite from its name. */
function suiteNamed(id: number, name: string): CipherSuite {
  const [, keys, cipher] = /^(?:TLS|SSL)_(?:(.+)_WITH_)?(.+)$/.exec(name)!
  const [key_exchange, authentication] = keys === undefined || isGost13(id) ? (['any', 'any'] as const) : agreement(keys)
  const kind = { ...cipherNamed(cipher!) }
  if (key_exchange.endsWith('_export')) kind.bits = Math.min(kind.bits, keys!.includes('1024') ? 56 : 40)
  return { id, name, key_exchange, authentication, ...kind, forward_secrecy: secretLater.has(key_exchange) }
}

function suiteOfSsl2(id: number, name: string, cipher: string): CipherSuite {
  const key_exchange = name.includes('EXPORT40') ? 'rsa_export' : 'rsa'
  return { id, name, key_exchange, authentication: 'rsa', ...cipherNamed(cipher), forward_secrecy: false }
}

/** Suites of GOST for TLS 1.3 are named like older ones (RFC 9367). */
function isGost13(id: number): boolean {
  return id >= 0xc103 && id <= 0xc106
}

/** The first part of a name: `DHE_RSA`, `ECDH_anon`, `RSA_PSK`. */
function agreement(keys: string): [KeyExchange, Authentication] {
  const exported = /_EXPORT/.test(keys)
  const parts = keys.replace(/_EXPORT(1024)?$/, '').split('_')
  const [first, second] = parts
  const exportedAs = (one: 'rsa' | 'dhe' | 'krb5'): KeyExchange => (exported ? `${one}_export` : one)
  if (first!.startsWith('GOST')) return ['gost', 'gost']
  if (first === 'SRP') return ['srp', authenticationNamed(parts[2] ?? 'SRP')]
  if (first === 'KRB5') return [exportedAs('krb5'), 'krb5']
  if (first === 'ECCPWD') return ['eccpwd', 'eccpwd']
  // One registered name has the parts the other way around.
  if (first === 'PSK') return [second === 'DHE' ? 'dhe' : 'psk', 'psk']
  if (first === 'RSA') return [exportedAs('rsa'), second === 'PSK' ? 'psk' : 'rsa']
  const authentication = authenticationNamed(second!)
  // Anonymous key exchanges are ephemeral, whatever their name (RFC 5246 section 7.4.3, RFC 8422 section 2).
  const ephemeral = first!.endsWith('E') || authentication === 'anonymous'
  if (first!.startsWith('EC')) return [ephemeral ? 'ecdhe' : 'ecdh', authentication]
  return [ephemeral ? exportedAs('dhe') : 'dh', authentication]
}

function authenticationNamed(part: string): Authentication {
  return part === 'anon' ? 'anonymous' : (part.toLowerCase() as Authentication)
}

/** The second part of a name: `AES_128_GCM_SHA256`, `DES40_CBC_SHA`, `RC4_128_MD5`. */
function cipherNamed(name: string): Pick<CipherSuite, 'cipher' | 'mode' | 'bits' | 'block_bits'> {
  const [first] = name.split('_')
  if (first === 'NULL' || /^SHA\d+_SHA\d+$/.test(name)) return { cipher: 'NULL', mode: 'null', bits: 0, block_bits: null }
  const known = ciphers[first!]!
  const size = /^[A-Z0-9]+?_(?:CBC_)?(\d+)/.exec(name)?.[1]
  return {
    cipher: known.name ?? first!,
    mode: modeOf(name, known.block),
    bits: known.bits ?? Number(size ?? 128),
    block_bits: known.block,
  }
}

function modeOf(name: string, block: number | null): CipherMode {
  if (/GCM|CCM|POLY1305|MGM|AEGIS/.test(name)) return 'aead'
  return block === null || /_(CTR|CNT)_/.test(name) ? 'stream' : 'cbc'
}
