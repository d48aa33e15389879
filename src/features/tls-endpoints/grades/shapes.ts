import { Type, type Static } from '@sinclair/typebox'
import { scanProtocols } from '../../../checks/tls-probe/facts'
import { Instant, Line, Nullable, Shape, Words } from '../../../core/shapes'
import { configuredServers, type ConfiguredServer } from './configs'
import { gradeLetters, ruleNames } from './grade'
import { profiles } from './profile'
import { effects } from './rule'
import { chainStates, trusts } from './server-facts'

/** What is scanned. */
export const scanned = {
  host: Line({ minLength: 1, maxLength: 255, description: 'Hostname or IP address.' }),
  port: Type.Integer({ minimum: 1, maximum: 65_535, description: 'TCP port.' }),
  protocol: Words(scanProtocols, {
    description:
      'How TLS starts: `tls` right after connecting, as with HTTPS; the others after the command of that protocol, such as `STARTTLS`.',
  }),
  servername: Nullable(Line({ minLength: 1, maxLength: 253 }), {
    description: 'Server name to send (SNI) and to look for in the certificate, if it is not `host`.',
  }),
}

export const gradeLetter = Words(gradeLetters, {
  description:
    'Grade from `A+` to `F` by the SSL Labs Server Rating Guide. `T`: the certificate is not trusted. `M`: it is for another name.',
})

const part = (description: string) => Type.Number({ minimum: 0, maximum: 100, description })

const Score = Shape(
  {
    protocol: part('Points for the versions of TLS: the average of the best and the worst. Counts 30 %.'),
    key_exchange: part('Points for the weakest key that connections depend on. Counts 30 %.'),
    cipher: part('Points for the ciphers: the average of the strongest and the weakest. Counts 40 %.'),
  },
  { $id: 'TlsScoreParts', description: 'The parts of a score, each from 0 to 100.' },
)

const lines = Nullable(Type.String(), { description: 'Lines of its configuration; null if there is nothing to change.' })

const brief = {
  rule: Words(ruleNames, { description: 'Name of the rule.' }),
  effect: Words(effects, {
    description:
      'What it does to the grade. A letter from `B` to `F` is the best grade that is possible with it, `T` and `M` replace the grade, and `warning` lowers A to A-.',
  }),
  title: Type.String({ description: 'What is wrong, in a few words.' }),
  detail: Type.String({ description: 'What was found.' }),
  fix: Type.String({ description: 'What to change.' }),
  evidence: Type.Record(Type.String(), Type.Array(Type.String()), {
    description: 'What the rule found: `versions`, `suites`, `keys`, or `certificates`.',
  }),
}

export const TlsReason = Shape(brief, { $id: 'TlsReason', description: 'Why a grade is not better.' })

const ExplainedTlsReason = Shape(
  {
    ...brief,
    meaning: Type.String({ description: 'What it means for clients.' }),
    config: Shape(
      Object.fromEntries(Object.keys(configuredServers).map(server => [server, lines])) as Record<ConfiguredServer, typeof lines>,
      {
        description: 'How to change it in common servers.',
      },
    ),
  },
  { $id: 'ExplainedTlsReason', description: 'Why a grade is not better, and how to change that.' },
)
export type ExplainedReason = Static<typeof ExplainedTlsReason>

export const profile = Words(profiles, {
  description:
    'Strictest configuration of Mozilla’s Server Side TLS 5.8 that the server meets with its versions, suites, and keys; `none` if it meets none.',
})
export const chainState = Words([...chainStates, 'untrusted'], {
  description:
    'State of the chain: `ok`, `incomplete` (intermediate certificates are missing), `misordered`, `superfluous` (it contains unnecessary certificates), or `untrusted`.',
})

const Certificate = Shape(
  {
    sha256: Type.String({ description: 'SHA-256 of the certificate, in hexadecimal.' }),
    subject: Type.String({ description: 'Subject.' }),
    issuer: Type.String({ description: 'Issuer.' }),
    key: Type.String({ description: 'Type and size of its key, such as `RSA 2048`.' }),
    signature_algorithm: Type.String({ description: 'Algorithm of its signature.' }),
    not_before: Instant({ description: 'Start of the validity period.' }),
    not_after: Instant({ description: 'End of the validity period.' }),
  },
  { $id: 'TlsChainCertificate', description: 'A certificate of a chain.' },
)
export type ChainCertificate = Static<typeof Certificate>

export const maxShownNames = 100
const Chain = Shape(
  {
    sent: Type.Array(Certificate, { description: 'Certificates in the order in which the server sent them.' }),
    path: Type.Array(Certificate, {
      description: 'The certificate and its issuers, up to a trusted root; as far as they are known, if it is not trusted.',
    }),
    trust: Words(trusts, {
      description:
        'Whether it leads to a trusted root: `public`, `private` if only the workspace trusts the root, `self_signed`, or `untrusted`.',
    }),
    state: Words(chainStates, { description: 'How the chain was sent.' }),
    names: Type.Array(Type.String(), { description: `Names that the certificate is valid for. At most ${maxShownNames}.` }),
    name_count: Type.Integer({ description: 'How many names it is valid for.' }),
    covers_host: Type.Boolean({ description: 'Whether it is valid for the host.' }),
    versions: Type.Array(Type.String(), { description: 'Versions in which it was sent.' }),
  },
  { $id: 'TlsChain', description: 'A chain of certificates that the server sent.' },
)
export type ChainReport = Static<typeof Chain>

const Suite = Shape(
  {
    name: Type.String({ description: 'Name in the registry of IANA.' }),
    bits: Type.Integer({ description: 'Strength of the cipher in bits.' }),
    mode: Words(['aead', 'cbc', 'stream', 'null'], { description: 'How data is encrypted.' }),
    forward_secrecy: Type.Boolean({
      description: 'Whether recorded connections stay secret if the key of the server is stolen.',
    }),
    key: Nullable(Type.String(), {
      description: 'Temporary key of the connection in which it was found, such as `x25519`; null if it has none.',
    }),
  },
  { $id: 'TlsSuite', description: 'A cipher suite that the server accepts.' },
)

const Version = Shape(
  {
    version: Type.String({ description: 'Version: `ssl2`, `ssl3`, `1.0`, `1.1`, `1.2`, or `1.3`.' }),
    status: Words(['offered', 'not_offered', 'not_tested'], { description: 'Whether the server offers it.' }),
    suites: Type.Array(Suite, { description: 'Suites, in the order in which the server chose them.' }),
    order: Nullable(Words(['server', 'client']), { description: 'Who decides which suite is used; null if it is unknown.' }),
  },
  { $id: 'TlsVersion', description: 'A version of TLS or SSL.' },
)

const Hsts = Shape(
  {
    max_age_seconds: Type.Integer({ description: 'For how long browsers remember it.' }),
    include_subdomains: Type.Boolean({ description: 'Whether it also applies to subdomains.' }),
    preload: Type.Boolean({ description: 'Whether browsers may have it in their own lists.' }),
  },
  { description: 'The header Strict-Transport-Security.' },
)

const maybeFlag = (description: string) => Nullable(Type.Boolean(), { description })

export const AddressReport = Shape(
  {
    address: Type.String({ description: 'IP address.' }),
    grade: Nullable(gradeLetter, { description: 'Grade; null if it could not be scanned.' }),
    score: Nullable(Type.Integer({ minimum: 0, maximum: 100 }), { description: 'Score from 0 to 100; null without a grade.' }),
    parts: Nullable(Score, { description: 'The parts of the score; null without a grade.' }),
    error: Nullable(Type.String(), { description: 'Why it could not be scanned; null if it was.' }),
    versions: Type.Array(Version, { description: 'All versions, from the oldest to the newest.' }),
    groups: Type.Array(Type.String(), { description: 'Groups for the key exchange, in the order that the server prefers.' }),
    chains: Type.Array(Chain, {
      description: 'Chains that the server sent: several if it has certificates with different keys.',
    }),
    compression: maybeFlag('Whether the server compresses TLS; null if it is unknown.'),
    secure_renegotiation: maybeFlag('Whether it supports secure renegotiation; null if it is unknown, or with TLS 1.3 only.'),
    ocsp_stapling: maybeFlag('Whether it sends an OCSP response along; null if it is unknown.'),
    alpn: Nullable(Type.String(), { description: 'Application protocol that it chose; null if none.' }),
    hsts: Nullable(Hsts, { description: 'HSTS; null if the server does not send it, or does not speak HTTP.' }),
    connections: Type.Integer({ description: 'Number of connections that the scan opened.' }),
    duration_ms: Type.Integer({ description: 'Duration of the scan in milliseconds.' }),
    not_tested: Type.Array(Type.String(), { description: 'What was not tested.' }),
    errors: Type.Array(Type.String(), { description: 'Steps that failed. What they would have found is missing.' }),
  },
  { $id: 'TlsAddressReport', description: 'What the scan of one address found.' },
)
export type AddressReport = Static<typeof AddressReport>

/** What a scan of all addresses of a host found. */
export const report = {
  grade: Nullable(gradeLetter, { description: 'Grade of the worst address; null if none could be scanned.' }),
  score: Nullable(Type.Integer({ minimum: 0, maximum: 100 }), { description: 'Score of the worst address, from 0 to 100.' }),
  parts: Nullable(Score, { description: 'The parts of the score; null without a grade.' }),
  profile: Nullable(profile, { description: profile.description as string }),
  chain: Nullable(chainState, { description: chainState.description as string }),
  opportunistic: Type.Boolean({
    description:
      'Whether encryption is optional, because it starts with a command (STARTTLS). Attackers on the network can suppress it.',
  }),
  reasons: Type.Array(ExplainedTlsReason, { description: 'Why the grade is not better, the most serious first.' }),
  error: Nullable(Type.String(), { description: 'Why there is no grade; null if there is one.' }),
  addresses: Type.Array(AddressReport, { description: 'What was found at each address. At most 8 addresses are scanned.' }),
}

export const exampleBriefReason = {
  rule: 'no_tls13' as const,
  effect: 'warning' as const,
  title: 'No TLS 1.3',
  detail: 'The server does not offer TLS 1.3.',
  fix: 'Offer TLS 1.3. If the server software does not support it, update it.',
  evidence: { versions: ['TLS 1.2'] },
}
const exampleReason = {
  ...exampleBriefReason,
  meaning: 'TLS 1.3 is faster and has none of the weaknesses of older versions.',
  config: {
    nginx: 'ssl_protocols TLSv1.2 TLSv1.3;',
    apache: 'SSLProtocol -all +TLSv1.2 +TLSv1.3',
    caddy: 'example.com {\n  tls {\n    protocols tls1.2 tls1.3\n  }\n}',
    haproxy: 'global\n  ssl-default-bind-options ssl-min-ver TLSv1.2',
    postfix: 'smtpd_tls_protocols = >=TLSv1.2\nsmtpd_tls_mandatory_protocols = >=TLSv1.2',
  },
}

const exampleCertificate = {
  sha256: '5b1c0f6d3f9d7f0f4f1a4e3c2b1a09f8e7d6c5b4a39281706f5e4d3c2b1a0f9e',
  subject: 'CN=shop.example.com',
  issuer: 'C=US, O=Example CA, CN=R3',
  key: 'RSA 2048',
  signature_algorithm: 'sha256WithRSAEncryption',
  not_before: '2026-11-10T00:00:00.000Z',
  not_after: '2027-02-08T00:00:00.000Z',
}

export const exampleReport = {
  grade: 'A-' as const,
  score: 93,
  parts: { protocol: 100, key_exchange: 90, cipher: 90 },
  profile: 'intermediate' as const,
  chain: 'ok' as const,
  opportunistic: false,
  reasons: [exampleReason],
  error: null,
  addresses: [
    {
      address: '192.0.2.1',
      grade: 'A-' as const,
      score: 93,
      parts: { protocol: 100, key_exchange: 90, cipher: 90 },
      error: null,
      versions: [
        {
          version: '1.2',
          status: 'offered' as const,
          suites: [
            {
              ...{ name: 'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384', bits: 256, mode: 'aead' as const },
              ...{ forward_secrecy: true, key: 'x25519' },
            },
            {
              ...{ name: 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', bits: 128, mode: 'aead' as const },
              ...{ forward_secrecy: true, key: 'x25519' },
            },
          ],
          order: 'server' as const,
        },
      ],
      groups: ['x25519', 'secp256r1'],
      chains: [
        {
          sent: [exampleCertificate],
          path: [exampleCertificate],
          trust: 'public' as const,
          state: 'ok' as const,
          names: ['shop.example.com'],
          name_count: 1,
          covers_host: true,
          versions: ['1.2'],
        },
      ],
      compression: false,
      secure_renegotiation: true,
      ocsp_stapling: false,
      alpn: 'h2',
      hsts: { max_age_seconds: 31_536_000, include_subdomains: true, preload: false },
      connections: 11,
      duration_ms: 23,
      not_tested: ['heartbleed', 'ccs_injection', 'robot', 'drown', 'ticketbleed'],
      errors: [],
    },
  ],
}

export const TlsGrade = Shape(
  {
    host: Type.String({ description: 'Host that was scanned.' }),
    port: scanned.port,
    protocol: scanned.protocol,
    servername: scanned.servername,
    ...report,
    scanned_at: Instant({ description: 'When it was scanned.' }),
    duration_ms: Type.Integer({ description: 'Duration of the scan in milliseconds.' }),
  },
  {
    $id: 'TlsGrade',
    description: 'How well a server speaks TLS, and why.',
    examples: [
      {
        ...{ host: 'shop.example.com', port: 443, protocol: 'tls' as const, servername: null },
        ...exampleReport,
        ...{ scanned_at: '2026-11-27T10:00:00.000Z', duration_ms: 31 },
      },
    ],
  },
)
export type TlsGradeView = Static<typeof TlsGrade>

/** The usual port of each protocol. */
export const usualPorts: Readonly<Record<(typeof scanProtocols)[number], number>> = {
  ...{ tls: 443, smtp: 25, imap: 143, pop3: 110, ftp: 21 },
  ...{ ldap: 389, postgres: 5432, mysql: 3306, xmpp: 5222, sieve: 4190 },
}

export const optionalPort = Type.Optional({
  ...scanned.port,
  description: 'TCP port. Defaults to the usual port of the protocol: 443 for `tls`, 25 for `smtp`.',
})

export const TlsGradeInput = Shape(
  {
    host: scanned.host,
    port: optionalPort,
    protocol: Type.Optional({ ...scanned.protocol, default: 'tls' }),
    servername: Type.Optional(scanned.servername),
  },
  { $id: 'TlsGradeInput', description: 'A server to grade.', examples: [{ host: 'shop.example.com', port: 443 }] },
)
export type TlsGradeInput = Static<typeof TlsGradeInput>
