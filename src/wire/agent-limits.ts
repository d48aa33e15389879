/** Limits of messages, apart from the shapes, so that the agent imports no validator. Requests with more are refused. */

/** A report has at most this many columns. */
export const maxColumns = 300
/** A report has at most this many minutes. */
export const maxMinutes = 60
/** A minute has at most this many samples. */
export const maxSamples = 60
/** Size of a report, compressed and not. */
export const maxReportBytes = { compressed: 1024 * 1024, decompressed: 4 * 1024 * 1024 }

/** What manages a file with certificates, or uses it. */
export const certificateFileKinds = [
  'acme_sh',
  'apache',
  'caddy',
  'certbot',
  'cockpit',
  'configured',
  'dehydrated',
  'docker',
  'dovecot',
  'exim',
  'haproxy',
  'kubernetes',
  'lego',
  'nginx',
  'nginx_proxy_manager',
  'postfix',
  'proxmox',
  'synology',
  'traefik',
] as const

/** Protocols that switch to TLS on a connection without it. */
export const startTlsProtocols = ['smtp', 'imap', 'pop3', 'postgres'] as const

/** Limits of the certificates in a report. */
export const certificateLimits = {
  files: 500,
  /** Ports multiplied by server names. */
  served: 500,
  /** Certificates in a chain. */
  chain: 10,
  certificates: 1000,
  certificateBytes: 16 * 1024,
  /** Size of all certificates as DER. Together with everything else, the report stays below its limit when compressed. */
  totalBytes: 512 * 1024,
  references: 20,
  path: 1000,
}

/** Pause between two samples while someone looks at a server, and for how long an agent sends them after it was asked to (ms). */
export const liveIntervalMs = 2000
export const liveMs = 60_000
/** Size of live metrics, compressed and not. */
export const maxLiveBytes = { compressed: 32 * 1024, decompressed: 128 * 1024 }

/** Limits of the installed packages in a report. */
export const packageLimits = { packages: 5000, name: 150, version: 150 }
