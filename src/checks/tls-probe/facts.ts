import type { CheckErrorKind } from '../check'

/** Protocols whose TLS can be scanned: TLS from the first byte, or one that upgrades its connections to TLS. */
export const scanProtocols = ['tls', 'smtp', 'imap', 'pop3', 'ftp', 'ldap', 'postgres', 'mysql', 'xmpp', 'sieve'] as const
export type ScanProtocol = (typeof scanProtocols)[number]

/** Protocol versions from the oldest to the newest. */
export const protocolVersions = ['ssl2', 'ssl3', '1.0', '1.1', '1.2', '1.3'] as const
export type ProtocolVersion = (typeof protocolVersions)[number]

/** How the keys of a connection are agreed on. `any` in TLS 1.3, where suites do not decide it. */
export type KeyExchange =
  | 'rsa'
  | 'rsa_export'
  | 'dh'
  | 'dhe'
  | 'dhe_export'
  | 'ecdh'
  | 'ecdhe'
  | 'psk'
  | 'krb5'
  | 'krb5_export'
  | 'srp'
  | 'gost'
  | 'eccpwd'
  | 'any'

/** How the server proves who it is. `anonymous`: not at all. `any` in TLS 1.3. */
export type Authentication = 'rsa' | 'dss' | 'ecdsa' | 'psk' | 'krb5' | 'srp' | 'gost' | 'eccpwd' | 'anonymous' | 'any'

/** How data is encrypted. */
export type CipherMode = 'aead' | 'cbc' | 'stream' | 'null'

/** A cipher suite as registered, without what a server does with it. */
export interface CipherSuite {
  /** Two octets, as in the registry of IANA; three in SSLv2. */
  id: number
  /** Name in the registry of IANA: `TLS_AES_128_GCM_SHA256`. Suites of SSLv2 are named as in its specification. */
  name: string
  key_exchange: KeyExchange
  authentication: Authentication
  /** Name of the cipher: `AES`, `CHACHA20`, `3DES`; `NULL` without encryption. */
  cipher: string
  mode: CipherMode
  /** Effective strength of the cipher in bits: 112 for 3DES, 40 for export suites, 0 without encryption. */
  bits: number
  /** Size of the cipher's block in bits; null for stream ciphers and without encryption. */
  block_bits: 64 | 128 | null
  /** Whether recorded traffic stays secret if the server's key is stolen later. True for all of TLS 1.3. */
  forward_secrecy: boolean
}

/** A key that the server created for a connection. */
export interface EphemeralKey {
  kind: OfferedGroup['kind'] | 'rsa'
  /** Size of the prime, the curve, or the temporary RSA key, in bits; of the classical part if it is a hybrid. */
  bits: number
  /** Name of the group in the registry of IANA (`x25519`, `ffdhe2048`); null for parameters of the server's own. */
  group: string | null
}

/** A suite that the server accepts. */
export interface OfferedSuite extends CipherSuite {
  /** The key of the connection in which the server chose the suite. Null if the suite has none, or it could not be read. */
  ephemeral: EphemeralKey | null
}

/** Result of the scan of one protocol version. */
export type VersionFacts =
  | {
      status: 'offered'
      /** Accepted suites, in the order in which the server chose them. */
      suites: OfferedSuite[]
      /**
       * Who decides which of the suites is used: `server` if it chooses by its own order, `client` if it follows the client. Null if there
       * is only one suite, or the order could not be tested.
       */
      order: 'server' | 'client' | null
      /** False if the scan of the version ended early, so that suites may be missing. The reason is among the errors. */
      complete: boolean
    }
  | { status: 'not_offered' }
  /** The reason is among the errors. */
  | { status: 'not_tested' }

/** A group for the key exchange that the server accepts. */
export interface OfferedGroup {
  /** Two octets, as in the registry of IANA. */
  id: number
  /** Name in the registry of IANA: `x25519`, `X25519MLKEM768`. */
  name: string
  /** `hybrid` groups resist quantum computers, and so does `mlkem` alone. */
  kind: 'ec' | 'dh' | 'hybrid' | 'mlkem'
  /** Size of the curve or the prime, in bits; of the classical part if it is a hybrid. */
  bits: number
}

/** Certificates that a server sent in one handshake. */
export interface SentChain {
  /** DER, in the order sent: the server's own certificate first. At most {@link maxChainCertificates}. */
  certificates: Uint8Array[]
  /** How many certificates the server sent; more than are listed if the chain was cut. */
  count: number
  /** Versions in which it was sent. */
  versions: ProtocolVersion[]
  /** Kinds of suites it was sent for: servers may have one certificate per kind of key. `any` for TLS 1.3. */
  authentications: Authentication[]
}

/** How many certificates of a chain are read. */
export const maxChainCertificates = 20
/** How many different chains of one server are kept. */
export const maxChains = 6

/** What the server says about HTTP, from a HEAD request. */
export interface HttpFacts {
  /** Status code of the response. */
  status: number
  /** The `Strict-Transport-Security` header (RFC 6797); null if there is none that is valid. */
  hsts: { max_age_seconds: number; include_subdomains: boolean; preload: boolean } | null
}

/** The steps of a scan, in order. */
export type ScanPhase = 'connect' | 'starttls' | 'versions' | 'order' | 'groups' | 'options' | 'chain' | 'http'

/** A step that failed. */
interface ScanError {
  phase: ScanPhase
  /** Null if it concerns the whole address. */
  version: ProtocolVersion | null
  kind: CheckErrorKind
  /** One line, without secrets and blocked addresses: `timed out waiting for the server’s response`. */
  message: string
}

/** What a scan can leave out, by design or because a step failed. */
export type Untested =
  | 'heartbleed'
  | 'ccs_injection'
  | 'robot'
  | 'drown'
  | 'ticketbleed'
  | 'groups'
  | 'compression'
  | 'renegotiation'
  | 'staple'
  | 'alpn'
  | 'http'

/** Vulnerabilities that are never tested: the tests disturb servers, or need a client that misbehaves. */
export const neverTested = ['heartbleed', 'ccs_injection', 'robot', 'drown', 'ticketbleed'] as const satisfies Untested[]

/** Everything that the scan of one address found. */
export interface AddressFacts {
  address: string
  port: number
  protocol: ScanProtocol
  /** The name sent in SNI; null if the host is an IP address. */
  servername: string | null
  /** Milliseconds UTC. */
  scanned_at: number
  duration_ms: number
  /** Number of connections that were opened. */
  connections: number
  /** Whether any version of TLS or SSL was accepted. Everything below is empty or null otherwise. */
  speaks_tls: boolean
  versions: Record<ProtocolVersion, VersionFacts>
  /** In the order in which the server chose them, but primes after others, and groups that only older versions accept at the end. */
  groups: OfferedGroup[]
  /** Whether the server compresses data before encryption, which allows CRIME. Tested up to TLS 1.2; null if that is not offered. */
  compression: boolean | null
  /** Whether the server supports secure renegotiation (RFC 5746). Null if it only offers TLS 1.3, which has no renegotiation, or SSLv2. */
  secure_renegotiation: boolean | null
  /**
   * The OCSP response that the server sent along (RFC 6066 section 8), DER. `false` if it sent none, null if it was not tested: only
   * TLS 1.2 and older versions show it without keys.
   */
  staple: Uint8Array | false | null
  /** Different chains that the server sent, the one that modern clients get first. At most {@link maxChains}. */
  chains: SentChain[]
  /** The application protocol that the server chose (ALPN, RFC 7301) from `h2` and `http/1.1`; null if none. */
  alpn: string | null
  /** Null if the server does not speak HTTP, or it was not asked. */
  http: HttpFacts | null
  errors: ScanError[]
  not_tested: Untested[]
}
