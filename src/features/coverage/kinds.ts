/** From the most to the least urgent. */
export const gapSeverities = ['critical', 'high', 'medium', 'low', 'info'] as const
export type GapSeverity = (typeof gapSeverities)[number]

interface GapKindEntry {
  /** Column in the dashboard and heading in the handbook. */
  title: string
  severity: GapSeverity
  /** When it is found, for the handbook. */
  when: string
  fix: string
  /** Whether a server was seen presenting it. It then takes two scans to open, and opens an incident if it is critical or high. */
  isServed?: true
  /** Whether it opens an incident if it is critical or high, although no scan found it. */
  opensIncident?: true
  /** Completes the title of its incident, after the name of the server or certificate. */
  predicate?: string
  /** Whether a new certificate closes it. */
  isIssuable?: true
}

/** The kinds of gaps, in the order of the handbook. */
export const gapKinds = {
  expired_served: {
    title: 'Expired certificate is served',
    severity: 'critical',
    when: 'A server presents a certificate that has expired.',
    fix: 'Install the renewed certificate and reload the service.',
    isServed: true,
    predicate: 'serves an expired certificate',
    isIssuable: true,
  },
  revoked_served: {
    title: 'Revoked certificate is served',
    severity: 'critical',
    when: 'A server presents a certificate that was revoked, or one of whose issuers was revoked.',
    fix: 'Install a certificate with a new key and reload the service.',
    isServed: true,
    predicate: 'serves a revoked certificate',
    isIssuable: true,
  },
  mismatch_served: {
    title: 'Certificate is for other names',
    severity: 'high',
    when: 'A server presents a certificate that isn’t valid for the name.',
    fix: 'Issue a certificate that contains the name, and install it.',
    isServed: true,
    predicate: 'serves a certificate for other names',
    isIssuable: true,
  },
  untrusted_served: {
    title: 'Certificate is not trusted',
    severity: 'high',
    when: 'A server presents a certificate that no trusted authority issued.',
    fix: 'Install a certificate of a public authority. If your own authority issued it, add its root to the certificate authorities.',
    isServed: true,
    predicate: 'serves a certificate that is not trusted',
    isIssuable: true,
  },
  uncovered: {
    title: 'Name without certificate',
    severity: 'high',
    when: 'The port is open, but the server presents no certificate, and no valid one for the name is known.',
    fix: 'Issue a certificate for the name and enable TLS. If the name needs none, add it to the ignored names.',
    isServed: true,
    predicate: 'has no certificate',
    isIssuable: true,
  },
  stale_on_disk: {
    title: 'Renewed certificate is not loaded',
    severity: 'high',
    when: 'A newer certificate has been on the server’s disk for 15 minutes, but the service still presents the previous one.',
    fix: 'Reload the service.',
    opensIncident: true,
    predicate: 'is served although a newer certificate is on disk',
  },
  ct_unknown: {
    title: 'Unknown certificate in a CT log',
    severity: 'high',
    when: 'A Certificate Transparency log contains a valid certificate for your names that was seen nowhere else.',
    fix: 'Find out who requested it. If nobody did, ask the authority to revoke it, and restrict authorities with CAA records.',
  },
  caa_conflict: {
    title: 'CAA records don’t allow the authority',
    severity: 'high',
    when: 'A certificate in use was issued by an authority that the CAA records of the name don’t allow, so that its renewal will fail.',
    fix: 'Add the authority to the CAA records, or use an authority that they allow.',
  },
  key_readable: {
    title: 'Private key is readable by everyone',
    severity: 'high',
    when: 'Every user of a server can read the file with a private key.',
    fix: 'Restrict the file to its owner: `chmod o-r`. Replace the key if others had access to the server.',
  },
  renewal_overdue: {
    title: 'Renewal is overdue',
    severity: 'medium',
    when: 'A certificate that is renewed automatically wasn’t renewed in time. The severity is high when the certificate becomes critical.',
    fix: 'Look for the error in the log of the ACME client, and renew the certificate.',
    opensIncident: true,
    predicate: 'was not renewed in time',
    isIssuable: true,
  },
  plain_http: {
    title: 'HTTP without HTTPS',
    severity: 'medium',
    when: 'A name that needs a certificate answers HTTP at port 80, but port 443 is closed at all of its addresses.',
    fix: 'Enable HTTPS on port 443, and redirect HTTP to it. If the name needs no HTTPS, add it to the ignored names.',
    isServed: true,
  },
  chain_incomplete: {
    title: 'Intermediate certificate is missing',
    severity: 'medium',
    when: 'A server doesn’t send the intermediate certificates that link its certificate to a root.',
    fix: 'Install the full chain instead of the certificate alone.',
    isServed: true,
  },
  split_brain: {
    title: 'Addresses serve different certificates',
    severity: 'medium',
    when: 'The addresses of a name present different certificates with the same type of key.',
    fix: 'Install the same certificate on all servers.',
    isServed: true,
  },
  lifetime_over_limit: {
    title: 'Lifetime is over the limit',
    severity: 'medium',
    when: 'A public certificate is valid for longer than the CA/Browser Forum allows, so that clients can reject it.',
    fix: 'Replace the certificate with one that is valid for a shorter time.',
  },
  served_not_on_disk: {
    title: 'Served certificate is not in any file',
    severity: 'low',
    when: 'A server with an agent presents a certificate that isn’t in any of the files that the agent reads.',
    fix: 'Add the folder of the certificate to the setting `certificates` of the agent.',
  },
  caa_missing: {
    title: 'Zone without CAA records',
    severity: 'low',
    when: 'A zone whose names need certificates has no CAA record, so any certificate authority can issue certificates for them.',
    fix: 'Add CAA records for the certificate authorities that you use.',
  },
  disk_unused: {
    title: 'Certificate on disk is not used',
    severity: 'info',
    when: 'A valid certificate is in a file of a server, but no service uses it and nothing presents it.',
    fix: 'Delete the file if it isn’t needed.',
  },
  orphan: {
    title: 'Certificate for names that no longer exist',
    severity: 'info',
    when: 'All names of a certificate in use are in your zones, but have no records anymore. For a wildcard, the names directly below it count.',
    fix: 'Remove the certificate and its renewal.',
  },
} as const satisfies Readonly<Record<string, GapKindEntry>>

export type GapKind = keyof typeof gapKinds
export const gapKindNames = Object.keys(gapKinds) as [GapKind, ...GapKind[]]
export const gapKindOf = (kind: GapKind): GapKindEntry => gapKinds[kind]
