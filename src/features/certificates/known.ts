/** A certificate of the workspace. Times are ms UTC. */
export interface KnownCertificate {
  id: string
  commonName: string
  /** DNS names in lower case, and IP addresses. */
  names: ReadonlySet<string>
  issuer: string
  keyType: string | null
  notBefore: number
  notAfter: number
  trust: 'public' | 'private' | 'self_signed' | 'untrusted'
  lineageId: string
  revokedAt: number | null
  /** The first of its issuers that was revoked. */
  revokedIssuer: { id: string; name: string; revokedAt: number } | null
  supersededBy: string | null
  inUse: boolean
  autoRenewing: boolean
  renewalDueAt: number
  sources: readonly string[]
  /** What is wrong with the certificate itself and how it is stored. */
  findings: readonly { code: string; detail: string }[]
}

/** A file with a certificate on a server. */
export interface CertificateFile {
  certificateId: string
  serverId: string
  serverName: string
  path: string
  isUsed: boolean
  /** ms UTC */
  firstSeenAt: number
}

/** A certificate that a port of a server presents to its agent. */
export interface ServedCertificate {
  certificateId: string
  serverId: string
  serverName: string
  port: number
  servername: string | null
  process: string | null
}

/** A certificate that an address of a TLS endpoint presented. */
export interface EndpointCertificate {
  endpointId: string
  address: string
  certificateId: string
  /** When it was seen, up to an hour before the last time (ms UTC). */
  lastSeenAt: number
}

/** The certificates of a workspace, and where they are now. */
export interface Inventory {
  certificates: ReadonlyMap<string, KnownCertificate>
  files: readonly CertificateFile[]
  served: readonly ServedCertificate[]
  endpoints: readonly EndpointCertificate[]
}
