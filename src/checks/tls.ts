import { Type, type Static } from '@sinclair/typebox'
import { grouped, Line, Shape } from '../core/shapes'
import { runAttempt } from './attempt'
import { daysLeft, formatDuration } from './certificate'
import type { CertificateFacts, CheckType } from './check'
import { CheckFailed } from './connect-failure'
import { parseHostPort, formatHostPort } from './host-port'
import { matches } from './pattern'
import { connectTls } from './connect'
import {
  ipFamily,
  serverNameFor,
  validateCertificates,
  validateServerName,
  serverName,
  tlsDestination,
  tlsOptions,
  tlsSecrets,
  tlsSettings,
} from './tls-options'

const Sha256 = Type.String({
  pattern: '^[0-9A-Fa-f]{2}(:?[0-9A-Fa-f]{2}){31}$',
  'x-rule': 'must be 64 hexadecimal digits, optionally with colons between the bytes.',
})

const tlsCheckOptions = Shape({
  min_valid_days: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 3650,
      default: 0,
      description: 'Minimum number of days for which the certificate and its chain must remain valid.',
    }),
  ),
  ...grouped('Certificate', {
    expected_names: Type.Optional(
      Type.Array(Line({ minLength: 1, maxLength: 253 }), {
        maxItems: 100,
        description: 'Names and IP addresses that the certificate must contain.',
        examples: [['example.com', '*.example.com']],
      }),
    ),
    expected_issuer: Type.Optional(
      Line({
        minLength: 1,
        maxLength: 500,
        description: 'Expected issuer. `*` matches any number of characters; case is ignored.',
        examples: ["*O=Let's Encrypt*"],
      }),
    ),
    expected_sha256: Type.Optional(
      Type.Array(Sha256, { minItems: 1, maxItems: 10, description: 'Expected SHA-256 fingerprints. One must match.' }),
    ),
  }),
  server_name: serverName,
  ...tlsOptions,
  ip_family: ipFamily,
})
type TlsCheckOptions = Static<typeof tlsCheckOptions>

/** Certificates of services that use TLS from the start. */
export const tls: CheckType<TlsCheckOptions> = {
  name: 'tls',
  title: 'TLS certificate',
  description:
    'Runs a TLS handshake and inspects the certificate. Fails if the certificate is not trusted, does not match the name, is not valid now, or expires too soon.',
  targetDescription: 'A host and optional port (default 443), such as `mail.example.com:993`.',
  options: tlsCheckOptions,
  secrets: tlsSecrets,
  destination: ['/server_name', ...tlsDestination],
  sources: ['CONNECTED', 'RESPONSE_TIME', 'IP', 'CERTIFICATE_EXPIRATION', 'TLS_VERSION', 'DOMAIN_EXPIRATION'],
  target: text => formatHostPort(parseHostPort(text, 443)),
  validate(options) {
    validateServerName(options.server_name)
    validateCertificates(options)
  },
  run: (target, options, context) =>
    runAttempt(context, async attempt => {
      const { host, port } = parseHostPort(target, 443)
      const name = serverNameFor(options.server_name, host)
      attempt.facts.request = `TLS ${formatHostPort({ host, port })}${name === host ? '' : ` as ${name}`}`
      await connectTls(attempt, host, port, { ...tlsSettings(options, name), classicalKeyExchange: true }, options.ip_family)
      const certificate = attempt.facts.tls?.certificate
      if (!certificate) throw new CheckFailed('certificate', 'the server presented no certificate')
      verifyCertificate(certificate, options, context.wallNow())
    }),
}

/** @throws CheckFailed `certificate` */
function verifyCertificate(certificate: CertificateFacts, options: TlsCheckOptions, now: number): void {
  const failure = (message: string) => new CheckFailed('certificate', message)
  const { not_before: begin, not_after: own, chain_not_after: end } = certificate
  const which = end < own ? 'a certificate in the chain' : 'certificate'
  if (begin > now) throw failure(`certificate is not valid for another ${formatDuration(begin - now)}`)
  if (end < now) throw failure(`${which} expired ${formatDuration(now - end)} ago`)
  const minDays = options.min_valid_days ?? 0
  if (daysLeft(certificate, now) < minDays)
    throw failure(`${which} expires in ${formatDuration(end - now)}, minimum is ${minDays} days`)
  const missing = (options.expected_names ?? []).filter(name => !certificate.names.includes(name.toLowerCase()))
  if (missing.length > 0) throw failure(`certificate is not valid for ${missing.slice(0, 3).join(', ')}`)
  const { expected_issuer: issuer, expected_sha256: fingerprints } = options
  if (issuer !== undefined && !matches(certificate.issuer, issuer))
    throw failure(`certificate issuer is ${certificate.issuer.slice(0, 200)}`)
  if (fingerprints && !fingerprints.some(one => one.replaceAll(':', '').toLowerCase() === certificate.sha256))
    throw failure(`certificate has an unexpected SHA-256 fingerprint: ${certificate.sha256}`)
}
