import type { ProtocolVersion } from '../../../checks/tls-probe/facts'
import { pluralize } from '../../../core/pluralize'
import { hsts, modernSuites, modernVersions, noCompression, safeRenegotiation, type Configs } from './configs'
import type { Finding, Rule } from './rule'
import { ratedKeys } from './score'
import { offeredIn, versionNames, type ServerFacts, type VersionedSuite } from './server-facts'

const day = 86_400

const offers = ({ versions }: ServerFacts, version: ProtocolVersion): boolean => versions.includes(version)

/** The finding that a version is offered. */
const offered = (server: ServerFacts, version: ProtocolVersion): Finding | null =>
  offers(server, version)
    ? { detail: `The server offers ${versionNames[version]}.`, evidence: { versions: [versionNames[version]] } }
    : null

const allVersions = ({ versions }: ServerFacts) => ({ versions: versions.map(one => versionNames[one]) })

/** Finds suites. @param detail starts with the number of suites */
function suitesWhere({ suites }: ServerFacts, is: (suite: VersionedSuite) => boolean, what: string): Finding | null {
  const found = suites.filter(is)
  if (found.length === 0) return null
  return {
    detail: `The server offers ${pluralize(found.length, 'suites')} ${what}.`,
    evidence: { suites: found.map(one => one.name) },
  }
}

const since =
  (...versions: ProtocolVersion[]) =>
  (suite: VersionedSuite) =>
    versions.some(one => suite.versions.includes(one))
const inTls11OrLater = since('1.1', '1.2', '1.3')

const isRc4 = ({ cipher }: VersionedSuite) => cipher.startsWith('RC4')
// Suites without encryption and export suites have rules of their own.
const isExport = ({ key_exchange: kind, bits }: VersionedSuite) => kind.endsWith('_export') || (bits > 0 && bits <= 40)

function weakestKey(server: ServerFacts, from: number, to: number): Finding | null {
  // Anonymous suites, which have no points, have a rule of their own.
  const rated = ratedKeys(server).filter(one => one.points > 0)
  const points = Math.min(100, ...rated.map(one => one.points))
  if (points < from || points > to) return null
  const keys = [...new Set(rated.flatMap(one => (one.points === points ? [one.what] : [])))]
  return { detail: `The key exchange depends on a weak key: ${keys[0]}.`, evidence: { keys } }
}

/** Stronger keys. Diffie-Hellman on elliptic curves needs no parameters. */
const strongKeys: Configs = {
  nginx: `# Without DHE suites, the parameters of “ssl_dhparam” are not used.\n${modernSuites.nginx}\nssl_ecdh_curve X25519:prime256v1:secp384r1;`,
  apache: `# Without DHE suites, the server needs no DH parameters.\n${modernSuites.apache}\nSSLOpenSSLConfCmd Groups X25519:P-256:P-384`,
  caddy: 'example.com {\n  tls {\n    curves x25519 secp256r1 secp384r1\n    key_type p256\n  }\n}',
  haproxy: `${modernSuites.haproxy}\n  ssl-default-bind-curves X25519:P-256:P-384\n# Remove “tune.ssl.default-dh-param” and “ssl-dh-param-file”.`,
  postfix: `# Remove “smtpd_tls_dh1024_param_file”.\n${modernSuites.postfix}`,
}

/** Rules about versions, suites, and options of connections, most serious first. */
export const connectionRules = {
  ssl2: {
    effect: 'F',
    title: 'SSL 2.0 offered',
    meaning: 'SSL 2.0 has been broken since 1995. It also endangers newer versions that use the same key (DROWN).',
    fix: 'Offer only TLS 1.2 and 1.3.',
    configs: modernVersions,
    find: server => offered(server, 'ssl2'),
  },
  ssl3_best: {
    effect: 'F',
    title: 'Nothing newer than SSL 3.0 offered',
    meaning: 'SSL 3.0 is broken, and no current browser can connect to this server.',
    fix: 'Offer TLS 1.2 and 1.3. If the server software does not support them, update it.',
    configs: modernVersions,
    find: server => (server.versions.at(-1) === 'ssl3' ? offered(server, 'ssl3') : null),
  },
  null_cipher: {
    effect: 'F',
    title: 'Suites without encryption',
    meaning: 'Connections with these suites are not encrypted: anyone on the network can read them.',
    fix: 'Offer only suites with forward secrecy and authenticated encryption.',
    configs: modernSuites,
    find: server => suitesWhere(server, one => one.bits === 0, 'without encryption'),
  },
  anonymous_cipher: {
    effect: 'F',
    title: 'Suites without authentication',
    meaning: 'With these suites, the server does not show a certificate, so anyone on the network can impersonate it.',
    fix: 'Offer only suites with forward secrecy and authenticated encryption.',
    configs: modernSuites,
    find: server => suitesWhere(server, one => one.authentication === 'anonymous', 'without authentication'),
  },
  export_cipher: {
    effect: 'F',
    title: 'Export suites',
    meaning: 'These suites were weakened on purpose in the 1990s, and can be broken within hours (FREAK, Logjam).',
    fix: 'Offer only suites with forward secrecy and authenticated encryption.',
    configs: modernSuites,
    find: server => suitesWhere(server, isExport, 'that were weakened for export'),
  },
  weak_cipher: {
    effect: 'F',
    title: 'Suites with less than 112 bits',
    meaning: 'Ciphers with such short keys, such as DES, can be broken by trying all keys.',
    fix: 'Offer only suites with forward secrecy and authenticated encryption.',
    configs: modernSuites,
    find: server => suitesWhere(server, one => one.bits > 0 && one.bits < 112 && !isExport(one), 'with less than 112 bits'),
  },
  insecure_key_exchange: {
    effect: 'F',
    title: 'Key exchange that can be broken',
    meaning: 'A key of less than 1024 bits can be computed by attackers, who can then read connections.',
    fix: 'Use a certificate with a key of at least 2048 bits (RSA) or 256 bits (ECDSA), and suites with ECDHE.',
    configs: strongKeys,
    find: server => weakestKey(server, 1, 40),
  },
  no_tls12: {
    effect: 'C',
    title: 'No TLS 1.2 or 1.3',
    meaning: 'All browsers need TLS 1.2 or later since 2020, and can’t connect to this server.',
    fix: 'Offer TLS 1.2 and 1.3. If the server software does not support them, update it.',
    configs: modernVersions,
    find: server =>
      offers(server, '1.2') || offers(server, '1.3') || server.versions.length === 0
        ? null
        : {
            detail: `The newest version that the server offers is ${versionNames[server.versions.at(-1)!]}.`,
            evidence: allVersions(server),
          },
  },
  poodle: {
    effect: 'C',
    title: 'POODLE',
    meaning: 'Attackers on the network can read parts of SSL 3.0 connections with CBC suites, such as cookies.',
    fix: 'Disable SSL 3.0.',
    configs: modernVersions,
    find: server => {
      const found = offeredIn(server.facts, 'ssl3').filter(one => one.mode === 'cbc')
      return found.length === 0
        ? null
        : { detail: 'The server offers CBC suites with SSL 3.0.', evidence: { suites: found.map(one => one.name) } }
    },
  },
  rc4_modern: {
    effect: 'C',
    title: 'RC4 with TLS 1.1 or later',
    meaning: 'RC4 leaks parts of what it encrypts. Clients that speak TLS 1.1 or later don’t need it.',
    fix: 'Offer only suites with forward secrecy and authenticated encryption.',
    configs: modernSuites,
    find: server => suitesWhere(server, one => isRc4(one) && inTls11OrLater(one), 'with RC4'),
  },
  short_blocks: {
    effect: 'C',
    title: '64-bit blocks with TLS 1.1 or later',
    meaning: 'Ciphers with blocks of 64 bits, such as 3DES, leak data in long connections (SWEET32).',
    fix: 'Offer only suites with forward secrecy and authenticated encryption.',
    configs: modernSuites,
    find: server => suitesWhere(server, one => one.block_bits === 64 && inTls11OrLater(one), 'with blocks of 64 bits'),
  },
  compression: {
    effect: 'C',
    title: 'TLS compression',
    meaning: 'The length of compressed data reveals secrets in it, such as cookies (CRIME).',
    fix: 'Disable TLS compression. Compression of HTTP responses is not affected.',
    configs: noCompression,
    find: ({ facts }) =>
      facts.compression === true ? { detail: 'The server compresses data before it encrypts it.', evidence: {} } : null,
  },
  ssl3: {
    effect: 'B',
    title: 'SSL 3.0 offered',
    meaning: 'SSL 3.0 has been broken since 2014. Attackers can make some clients fall back to it.',
    fix: 'Offer only TLS 1.2 and 1.3.',
    configs: modernVersions,
    find: server => (server.versions.at(-1) === 'ssl3' ? null : offered(server, 'ssl3')),
  },
  tls10: {
    effect: 'B',
    title: 'TLS 1.0 offered',
    meaning: 'TLS 1.0 is obsolete (RFC 8996). Browsers no longer use it, and payment card rules forbid it.',
    fix: 'Offer only TLS 1.2 and 1.3.',
    configs: modernVersions,
    find: server => offered(server, '1.0'),
  },
  tls11: {
    effect: 'B',
    title: 'TLS 1.1 offered',
    meaning: 'TLS 1.1 is obsolete (RFC 8996). Browsers no longer use it.',
    fix: 'Offer only TLS 1.2 and 1.3.',
    configs: modernVersions,
    find: server => offered(server, '1.1'),
  },
  no_forward_secrecy: {
    effect: 'B',
    title: 'No forward secrecy',
    meaning: 'Attackers who record connections now, and steal the key of the server later, can read them all.',
    fix: 'Offer suites with ECDHE. TLS 1.3 always has forward secrecy.',
    configs: modernSuites,
    find: server =>
      server.suites.length === 0 || server.suites.some(one => one.forward_secrecy)
        ? null
        : { detail: 'No suite of the server has forward secrecy.', evidence: { suites: server.suites.map(one => one.name) } },
  },
  no_aead: {
    effect: 'B',
    title: 'No authenticated encryption',
    meaning: 'Older suites encrypt and authenticate data in separate steps, which has led to many attacks.',
    fix: 'Offer suites with AES-GCM or ChaCha20-Poly1305. TLS 1.3 has no others.',
    configs: modernSuites,
    find: server =>
      server.suites.length === 0 || server.suites.some(one => one.mode === 'aead')
        ? null
        : {
            detail: 'No suite of the server has authenticated encryption (AEAD).',
            evidence: { suites: server.suites.map(one => one.name) },
          },
  },
  rc4: {
    effect: 'B',
    title: 'RC4 offered',
    meaning: 'RC4 leaks parts of what it encrypts.',
    fix: 'Offer only suites with forward secrecy and authenticated encryption.',
    configs: modernSuites,
    find: server =>
      server.suites.some(one => isRc4(one) && inTls11OrLater(one)) ? null : suitesWhere(server, isRc4, 'with RC4'),
  },
  weak_key_exchange: {
    effect: 'B',
    title: 'Key exchange with less than 2048 bits',
    meaning: 'Keys of 1024 bits are within reach of attackers with large computers.',
    fix: 'Use a certificate with a key of at least 2048 bits (RSA) or 256 bits (ECDSA), and suites with ECDHE.',
    configs: strongKeys,
    find: server => weakestKey(server, 41, 80),
  },
  no_tls13: {
    effect: 'warning',
    title: 'No TLS 1.3',
    meaning: 'TLS 1.3 is faster and has none of the weaknesses of older versions.',
    fix: 'Offer TLS 1.3. If the server software does not support it, update it.',
    configs: modernVersions,
    find: server =>
      offers(server, '1.3') || server.facts.versions['1.3'].status === 'not_tested'
        ? null
        : { detail: 'The server does not offer TLS 1.3.', evidence: allVersions(server) },
  },
  no_hsts: {
    effect: 'warning',
    title: 'No HSTS',
    meaning: 'Without HSTS, attackers on the network can keep browsers on unencrypted HTTP.',
    fix: 'Send the header Strict-Transport-Security. Only do this if the whole site works over HTTPS, because browsers remember the header.',
    configs: hsts,
    find: ({ facts: { http, protocol } }) =>
      protocol === 'tls' && http && http.hsts === null
        ? { detail: 'The server does not send the header Strict-Transport-Security.', evidence: {} }
        : null,
  },
  short_hsts: {
    effect: 'warning',
    title: 'HSTS for less than 180 days',
    meaning: 'After that time without a visit, attackers on the network can keep a browser on unencrypted HTTP.',
    fix: 'Increase max-age in the header Strict-Transport-Security, for example to a year.',
    configs: hsts,
    find: ({ facts: { http, protocol } }) =>
      protocol === 'tls' && http?.hsts && http.hsts.max_age_seconds < 180 * day
        ? {
            detail: `The header Strict-Transport-Security is valid for ${pluralize(Math.floor(http.hsts.max_age_seconds / day), 'days')}.`,
            evidence: {},
          }
        : null,
  },
  insecure_renegotiation: {
    effect: 'warning',
    title: 'No secure renegotiation',
    meaning: 'Attackers on the network may be able to put data in front of what a client sends.',
    fix: 'Update the TLS library of the server.',
    configs: safeRenegotiation,
    find: ({ facts }) =>
      facts.secure_renegotiation === false
        ? { detail: 'The server does not support secure renegotiation (RFC 5746).', evidence: {} }
        : null,
  },
} as const satisfies Record<string, Rule>
