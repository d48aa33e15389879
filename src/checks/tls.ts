import { Type, type Static } from '@sinclair/typebox'
import { Line, Shape } from '../core/shapes'
import { attempt } from './attempt'
import { daysLeft, spanText } from './certificate'
import type { CertificateFacts, CheckType } from './check'
import { CheckFailed } from './connect-failure'
import { hostPort, hostPortText } from './host-port'
import { matches } from './pattern'
import { connectTls } from './tls-connect'
import {
  ipFamily,
  nameToShow,
  refuseCertificates,
  refuseServerName,
  serverName,
  tlsDestination,
  tlsMembers,
  tlsSecrets,
  tlsWish,
} from './tls-options'

const Sha256 = Type.String({
  pattern: '^[0-9A-Fa-f]{2}(:?[0-9A-Fa-f]{2}){31}$',
  'x-rule': 'must be 64 hexadecimal digits, with colons between the octets or without.',
})

const options = Shape({
  servername: serverName,
  ...tlsMembers,
  minimum_days: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 3650,
      default: 0,
      description: 'Days that the certificate, and those it depends on, must be valid at least.',
    }),
  ),
  expected_names: Type.Optional(
    Type.Array(Line({ minLength: 1, maxLength: 253 }), {
      maxItems: 100,
      description: 'Names and addresses that the certificate must hold, as they stand in it.',
      examples: [['example.com', '*.example.com']],
    }),
  ),
  expected_issuer: Type.Optional(
    Line({
      minLength: 1,
      maxLength: 500,
      description: 'What its issuer must be; `*` stands for any number of characters, and letters match in either case.',
      examples: ["*O=Let's Encrypt*"],
    }),
  ),
  expected_sha256: Type.Optional(
    Type.Array(Sha256, { minItems: 1, maxItems: 10, description: 'SHA-256 of certificates, of which the server must show one.' }),
  ),
  ip_family: ipFamily,
})
type TlsOptions = Static<typeof options>

/** Certificates, wherever TLS begins with the connection. */
export const tls: CheckType<TlsOptions> = {
  name: 'tls',
  title: 'TLS certificate',
  description:
    'Shakes hands by TLS and reads the certificate. Down when it is not trusted, not for the name, not valid now, or not long enough from now.',
  targetForm: 'A host and a port, 443 where there is none: `mail.example.com:993`.',
  options,
  secrets: tlsSecrets,
  destination: ['/servername', ...tlsDestination],
  sources: ['CONNECTED', 'RESPONSE_TIME', 'IP', 'CERTIFICATE_EXPIRATION', 'TLS_VERSION'],
  target: text => hostPortText(hostPort(text, 443)),
  refuse(given) {
    refuseServerName(given.servername)
    refuseCertificates(given)
  },
  run: (target, given, around) =>
    attempt(around, async one => {
      const { host, port } = hostPort(target, 443)
      const name = nameToShow(given.servername, host)
      one.facts.request = `TLS ${hostPortText({ host, port })}${name === host ? '' : ` as ${name}`}`
      await connectTls(one, host, port, { ...tlsWish(given, name), nothingSecret: true }, given.ip_family)
      const certificate = one.facts.tls?.certificate
      if (!certificate) throw new CheckFailed('certificate', 'the server shows no certificate')
      judge(certificate, given, around.wallNow())
    }),
}

/** @throws CheckFailed `certificate` */
function judge(certificate: CertificateFacts, given: TlsOptions, now: number): void {
  const wrong = (message: string) => new CheckFailed('certificate', message)
  const { not_before: begin, not_after: own, chain_not_after: end } = certificate
  const which = end < own ? 'a certificate of the chain' : 'certificate'
  if (begin > now) throw wrong(`certificate is valid in ${spanText(begin - now)} only`)
  if (end < now) throw wrong(`${which} expired ${spanText(now - end)} ago`)
  const least = given.minimum_days ?? 0
  if (daysLeft(certificate, now) < least) throw wrong(`${which} expires in ${spanText(end - now)}, sooner than in ${least} days`)
  const missing = (given.expected_names ?? []).filter(name => !certificate.names.includes(name.toLowerCase()))
  if (missing.length > 0) throw wrong(`certificate is not for ${missing.slice(0, 3).join(', ')}`)
  const { expected_issuer: issuer, expected_sha256: prints } = given
  if (issuer !== undefined && !matches(certificate.issuer, issuer))
    throw wrong(`certificate is of ${certificate.issuer.slice(0, 200)}`)
  if (prints && !prints.some(one => one.replaceAll(':', '').toLowerCase() === certificate.sha256))
    throw wrong(`certificate is another: its SHA-256 is ${certificate.sha256}`)
}
