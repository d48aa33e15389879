/** Where a certificate was seen. `label` names the place for people, such as `shop.example.com:443` or `web-1:/etc/ssl/shop.pem`. */
export type Presence =
  | {
      kind: 'endpoint'
      endpointId: string
      address: string
      host: string
      port: number
      /** The name that is asked for instead of the host. */
      servername?: string | null
    }
  | {
      kind: 'file'
      serverId: string
      serverName: string
      path: string
      /** Whether the private key next to it belongs to it. */
      key: 'matches' | 'mismatch' | 'missing' | 'unreadable'
      /** File mode of the private key, in octal. */
      mode: string | null
      /** Services that use the file, such as `nginx: shop.example.com`. */
      references: readonly string[]
    }
  | {
      kind: 'served'
      serverId: string
      serverName: string
      address: string
      port: number
      servername: string | null
      process: string | null
    }
  | { kind: 'issued'; managedCertificateId: string }
  | { kind: 'upload' | 'ct' }

export const presenceKinds = ['endpoint', 'file', 'served', 'ct', 'upload', 'issued'] as const
type PresenceKind = (typeof presenceKinds)[number]

/** Who reported a certificate: an agent reports files and what ports present. */
export const certificateSources = ['endpoint', 'agent', 'ct', 'upload', 'issued'] as const
export type CertificateSource = (typeof certificateSources)[number]
export const sourceOf = (kind: PresenceKind): CertificateSource => (kind === 'file' || kind === 'served' ? 'agent' : kind)

/** What a place is stored as. */
export interface Place {
  kind: PresenceKind
  /** What reports it: the endpoint, server, or managed certificate. Empty for uploads and CT. */
  scopeId: string
  /** Which of the places of the scope. A place has one certificate at a time, except for uploads and CT. */
  place: string
  /** Names the place for people. */
  label: string
  /** Whether the certificate is in use because of it. A file counts if a service uses it. */
  isUse: boolean
}

export function placeOf(presence: Presence): Place {
  const { kind } = presence
  switch (presence.kind) {
    case 'endpoint': {
      const { endpointId: scopeId, address, host, port } = presence
      return { kind, scopeId, place: address, label: `${host}:${port}`, isUse: true }
    }
    case 'file': {
      const { serverId: scopeId, serverName, path, references } = presence
      return { kind, scopeId, place: path, label: `${serverName}:${path}`, isUse: references.length > 0 }
    }
    case 'served': {
      const { serverId: scopeId, serverName, address, port, servername } = presence
      return {
        kind,
        scopeId,
        place: `${address} ${port} ${servername ?? ''}`,
        label: `${servername ?? serverName}:${port}`,
        isUse: true,
      }
    }
    case 'issued':
      return { kind, scopeId: presence.managedCertificateId, place: '', label: 'issued', isUse: true }
    default:
      // Uploads are watched until they are deleted. What is only in a CT log may never have been used.
      return { kind, scopeId: '', place: '', label: kind, isUse: kind === 'upload' }
  }
}
