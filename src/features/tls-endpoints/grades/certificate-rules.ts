import { pluralize } from '../../../core/pluralize'
import { certificateFile } from './configs'
import type { Finding, Rule } from './rule'
import type { ChainFacts, ServerFacts } from './server-facts'

/** Finds chains. @param detail about the first one */
const chainsWhere = (
  server: ServerFacts,
  is: (chain: ChainFacts) => boolean,
  detail: (first: ChainFacts) => string,
): Finding | null => {
  const found = server.chains.filter(is)
  return found.length === 0
    ? null
    : { detail: detail(found[0]!), evidence: { certificates: [...new Set(found.map(one => one.subject))] } }
}

/** Finds certificates below the root whose signature uses one of these hashes. */
function signedWith({ chains }: ServerFacts, hashes: readonly string[], name: string): Finding | null {
  const found = chains.flatMap(chain => chain.signatures.filter(one => one.hash !== null && hashes.includes(one.hash)))
  return found.length === 0
    ? null
    : {
        detail: `The signature of ${found[0]!.subject} uses ${name}.`,
        evidence: { certificates: [...new Set(found.map(one => one.subject))] },
      }
}

const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

/** Rules about certificates, most serious first. */
export const certificateRules = {
  revoked: {
    effect: 'T',
    title: 'Certificate revoked',
    meaning:
      'The authority that issued the certificate has withdrawn it, usually because its key was stolen. Browsers may refuse it.',
    fix: 'Create a new private key, get a new certificate for it, and install both.',
    configs: certificateFile,
    isZero: true,
    find: server =>
      chainsWhere(
        server,
        one => one.revoked === true,
        one => `The certificate ${one.subject} has been revoked.`,
      ),
  },
  expired: {
    effect: 'T',
    title: 'Certificate expired',
    meaning: 'Browsers and other clients refuse a certificate after its last day.',
    fix: 'Renew the certificate, install the new one, and reload the server. If you renewed it already, the server has not loaded it yet.',
    configs: certificateFile,
    isZero: true,
    find: server =>
      chainsWhere(
        server,
        one => one.not_after < server.facts.scanned_at,
        one => `The certificate ${one.subject} expired on ${day(one.not_after)}.`,
      ),
  },
  not_yet_valid: {
    effect: 'T',
    title: 'Certificate not yet valid',
    meaning: 'Clients refuse a certificate before its first day.',
    fix: 'Install a certificate that is valid now. If it should be, check the clock of the machine that issued it.',
    configs: certificateFile,
    isZero: true,
    find: server =>
      chainsWhere(
        server,
        one => one.not_before > server.facts.scanned_at,
        one => `The certificate ${one.subject} is valid from ${day(one.not_before)}.`,
      ),
  },
  self_signed: {
    effect: 'T',
    title: 'Self-signed certificate',
    meaning: 'The certificate is signed with its own key, so clients can’t verify who it belongs to, and show a warning.',
    fix: 'Get a certificate from a public certificate authority, such as Let’s Encrypt. For a private service, add its certificate to the certificate authorities of the workspace.',
    configs: certificateFile,
    isZero: true,
    find: server =>
      chainsWhere(
        server,
        one => one.trust === 'self_signed',
        one => `The certificate ${one.subject} is signed with its own key.`,
      ),
  },
  untrusted: {
    effect: 'T',
    title: 'Certificate not trusted',
    meaning:
      'The chain does not lead to a certificate authority that browsers and operating systems trust, so clients show a warning.',
    fix: 'Get a certificate from a public certificate authority, such as Let’s Encrypt. If your own authority issued it, add its root certificate to the certificate authorities of the workspace.',
    configs: certificateFile,
    isZero: true,
    find: server =>
      chainsWhere(
        server,
        one => one.trust === 'untrusted',
        one => `The chain of ${one.subject} does not lead to a trusted root certificate.`,
      ),
  },
  sha1_signature: {
    effect: 'T',
    title: 'Certificate signed with SHA-1',
    meaning: 'SHA-1 signatures can be forged, so browsers stopped accepting them in 2017.',
    fix: 'Get a new certificate. All certificate authorities sign with SHA-256 or better today.',
    configs: certificateFile,
    isZero: true,
    find: server => signedWith(server, ['sha1'], 'SHA-1'),
  },
  unreadable_certificate: {
    effect: 'T',
    title: 'Certificate unreadable',
    meaning: 'The certificate that the server sends violates RFC 5280, so clients refuse it.',
    fix: 'Install a certificate in the format X.509. If you created it yourself, check that its serial number is positive, and create it again with a current tool.',
    configs: certificateFile,
    isZero: true,
    find: ({ unreadable }) =>
      unreadable === 0 ? null : { detail: 'The server sends a certificate that can’t be read.', evidence: {} },
  },
  name_mismatch: {
    effect: 'M',
    title: 'Certificate for another name',
    meaning: 'The certificate is valid, but not for the name of this server, so clients show a warning.',
    fix: 'Get a certificate that includes the name, or let the server send the right certificate for it: often the virtual host for this name is missing, so the default one responds.',
    configs: {
      ...certificateFile,
      nginx: `server {\n  listen 443 ssl;\n  server_name www.example.com;\n  ${certificateFile.nginx!.replace('\n', '\n  ')}\n}`,
      apache: `<VirtualHost *:443>\n  ServerName www.example.com\n  SSLEngine on\n  ${certificateFile.apache!.replace('\n', '\n  ')}\n</VirtualHost>`,
    },
    isZero: true,
    find: server =>
      chainsWhere(
        server,
        one => !one.covers_host,
        one => `The certificate is not valid for this host. It is valid for ${namesOf(one)}.`,
      ),
  },
  md5_signature: {
    effect: 'F',
    title: 'Certificate signed with MD5 or MD2',
    meaning: 'Signatures with MD5 and MD2 can be forged, so anyone could have created this certificate.',
    fix: 'Get a new certificate. All certificate authorities sign with SHA-256 or better today.',
    configs: certificateFile,
    isZero: true,
    find: server => signedWith(server, ['md5', 'md2', 'md4'], 'MD5 or MD2'),
  },
  rsa_exponent: {
    effect: 'F',
    title: 'RSA key with exponent 1',
    meaning: 'With a public exponent of 1, RSA does not encrypt or sign anything.',
    fix: 'Create a new private key, and get a certificate for it.',
    configs: certificateFile,
    isZero: true,
    find: server =>
      chainsWhere(
        server,
        one => one.key.exponent === 1n,
        one => `The RSA key of ${one.subject} has the public exponent 1.`,
      ),
  },
  chain_incomplete: {
    effect: 'B',
    title: 'Intermediate certificate missing',
    meaning:
      'The server does not send all certificates between its own and the root. Some browsers download what is missing, but mail servers, scripts, and apps fail.',
    fix: 'Install the file that contains the certificate followed by the intermediate certificates. Authorities often call it “full chain” or “bundle”.',
    configs: certificateFile,
    find: server =>
      chainsWhere(
        server,
        one => one.sent === 'incomplete',
        one => `The server does not send all intermediate certificates of ${one.subject}.`,
      ),
  },
  chain_misordered: {
    effect: 'B',
    title: 'Certificates in the wrong order',
    meaning: 'Each certificate must be followed by the one that signed it. Older clients refuse another order.',
    fix: 'Sort the file: first the certificate of the server, then each intermediate certificate after the one that it signed.',
    configs: certificateFile,
    find: server =>
      chainsWhere(
        server,
        one => one.sent === 'misordered',
        one => `The certificates after ${one.subject} are in the wrong order.`,
      ),
  },
} as const satisfies Record<string, Rule>

const maxNames = 5

function namesOf({ names }: ChainFacts): string {
  if (names.length === 0) return 'no name at all'
  const more = names.length - maxNames
  return [...names.slice(0, maxNames), ...(more > 0 ? [pluralize(more, 'other names')] : [])].join(', ')
}
