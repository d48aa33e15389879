import {
  neverTested,
  protocolVersions,
  type AddressFacts,
  type CipherSuite,
  type EphemeralKey,
  type OfferedSuite,
  type ProtocolVersion,
  type VersionFacts,
} from '../../src/checks/tls-probe/facts'
import type { ChainFacts } from '../../src/features/tls-endpoints/grades/server-facts'

// Facts of TLS servers, as a scan finds them.

export const scannedAt = Date.parse('2026-11-27T12:00:00Z')
const day = 86_400_000

type Draft = Pick<CipherSuite, 'id' | 'key_exchange' | 'authentication' | 'cipher' | 'mode' | 'bits' | 'block_bits'>
const draft = (
  id: number,
  key_exchange: CipherSuite['key_exchange'],
  authentication: CipherSuite['authentication'],
  cipher: string,
  mode: CipherSuite['mode'],
  bits: number,
): Draft => ({
  ...{ id, key_exchange, authentication, cipher, mode, bits },
  block_bits: mode === 'stream' || mode === 'null' || cipher === 'CHACHA20' ? null : ['3DES', 'DES'].includes(cipher) ? 64 : 128,
})

const suites = {
  TLS_AES_128_GCM_SHA256: draft(0x1301, 'any', 'any', 'AES', 'aead', 128),
  TLS_AES_256_GCM_SHA384: draft(0x1302, 'any', 'any', 'AES', 'aead', 256),
  TLS_CHACHA20_POLY1305_SHA256: draft(0x1303, 'any', 'any', 'CHACHA20', 'aead', 256),
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: draft(0xc02b, 'ecdhe', 'ecdsa', 'AES', 'aead', 128),
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: draft(0xc02c, 'ecdhe', 'ecdsa', 'AES', 'aead', 256),
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: draft(0xc02f, 'ecdhe', 'rsa', 'AES', 'aead', 128),
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: draft(0xc030, 'ecdhe', 'rsa', 'AES', 'aead', 256),
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: draft(0xcca8, 'ecdhe', 'rsa', 'CHACHA20', 'aead', 256),
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: draft(0xc013, 'ecdhe', 'rsa', 'AES', 'cbc', 128),
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256: draft(0xc027, 'ecdhe', 'rsa', 'AES', 'cbc', 128),
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA384: draft(0xc028, 'ecdhe', 'rsa', 'AES', 'cbc', 256),
  TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA: draft(0xc012, 'ecdhe', 'rsa', '3DES', 'cbc', 112),
  TLS_ECDHE_RSA_WITH_RC4_128_SHA: draft(0xc011, 'ecdhe', 'rsa', 'RC4', 'stream', 128),
  TLS_DHE_RSA_WITH_AES_128_GCM_SHA256: draft(0x009e, 'dhe', 'rsa', 'AES', 'aead', 128),
  TLS_DHE_RSA_WITH_AES_256_GCM_SHA384: draft(0x009f, 'dhe', 'rsa', 'AES', 'aead', 256),
  TLS_DH_anon_WITH_AES_256_GCM_SHA384: draft(0x00a7, 'dhe', 'anonymous', 'AES', 'aead', 256),
  TLS_RSA_WITH_AES_128_GCM_SHA256: draft(0x009c, 'rsa', 'rsa', 'AES', 'aead', 128),
  TLS_RSA_WITH_AES_256_GCM_SHA384: draft(0x009d, 'rsa', 'rsa', 'AES', 'aead', 256),
  TLS_RSA_WITH_AES_128_CBC_SHA: draft(0x002f, 'rsa', 'rsa', 'AES', 'cbc', 128),
  TLS_RSA_WITH_3DES_EDE_CBC_SHA: draft(0x000a, 'rsa', 'rsa', '3DES', 'cbc', 112),
  TLS_RSA_WITH_DES_CBC_SHA: draft(0x0009, 'rsa', 'rsa', 'DES', 'cbc', 56),
  TLS_RSA_WITH_RC4_128_SHA: draft(0x0005, 'rsa', 'rsa', 'RC4', 'stream', 128),
  TLS_RSA_WITH_NULL_SHA256: draft(0x003b, 'rsa', 'rsa', 'NULL', 'null', 0),
  TLS_RSA_EXPORT_WITH_RC4_40_MD5: draft(0x0003, 'rsa_export', 'rsa', 'RC4', 'stream', 40),
  SSL_CK_RC4_128_WITH_MD5: draft(0x010080, 'rsa', 'rsa', 'RC4', 'stream', 128),
}
export type SuiteName = keyof typeof suites

const ephemeralOf = ({ key_exchange: kind }: Draft, dhBits: number): EphemeralKey | null =>
  kind === 'ecdhe' || kind === 'any'
    ? { kind: 'ec', bits: 256, group: 'x25519' }
    : kind === 'dhe'
      ? { kind: 'dh', bits: dhBits, group: null }
      : null

function offeredSuite(name: SuiteName, dhBits: number): OfferedSuite {
  const suite = suites[name]
  return {
    name,
    ...suite,
    forward_secrecy: ['ecdhe', 'dhe', 'any'].includes(suite.key_exchange),
    ephemeral: ephemeralOf(suite, dhBits),
  }
}

export interface ServerDraft {
  /** Suites of each version that is offered. */
  offers: Partial<Record<ProtocolVersion, SuiteName[]>>
  /** Bits of the parameters of DHE. */
  dhBits?: number
  facts?: Partial<AddressFacts>
  /** What differs from a trusted chain with an ECDSA key; several for servers with several certificates. */
  chains?: Partial<ChainFacts>[]
}

/** A chain that nothing is wrong with. */
export const goodChain: ChainFacts = {
  subject: 'www.example.com',
  not_before: scannedAt - 30 * day,
  not_after: scannedAt + 60 * day,
  names: ['www.example.com'],
  covers_host: true,
  key: { type: 'ec', bits: 256, exponent: null },
  signatures: [
    { subject: 'www.example.com', hash: 'sha256' },
    { subject: 'Example CA R3', hash: 'sha256' },
  ],
  trust: 'public',
  sent: 'ok',
  revoked: null,
}

/** The facts of a server. */
export function serverWith({ offers, dhBits = 2048, facts = {}, chains = [{}] }: ServerDraft): {
  facts: AddressFacts
  chains: ChainFacts[]
} {
  const versions = Object.fromEntries(
    protocolVersions.map((version): [ProtocolVersion, VersionFacts] => {
      const names = offers[version]
      if (!names) return [version, { status: 'not_offered' }]
      return [
        version,
        { status: 'offered', suites: names.map(name => offeredSuite(name, dhBits)), order: 'server', complete: true },
      ]
    }),
  ) as AddressFacts['versions']
  return {
    facts: {
      ...{ address: '192.0.2.1', port: 443, protocol: 'tls', servername: 'www.example.com' },
      ...{ scanned_at: scannedAt, duration_ms: 23, connections: 11, speaks_tls: Object.keys(offers).length > 0, versions },
      ...{ groups: [], compression: false, secure_renegotiation: true, staple: false, chains: [], alpn: null, http: null },
      ...{ errors: [], not_tested: [...neverTested] },
      ...facts,
    },
    chains: chains.map(one => ({ ...goodChain, ...one })),
  }
}
