import { Type } from '@sinclair/typebox'
import { clientCertificateProblem } from '../../../../adapters/client-certificate'
import { urlProblem } from '../../../../adapters/json-http'
import { destination, secret, settingsForm, type SettingsOf } from '../../../../adapters/settings-form'
import { parseFingerprint } from '../../../../core/net/fingerprint'
import { invalid, type FieldProblem } from '../../../../core/problem'
import { grouped, Line, Prose } from '../../../../core/shapes'
import { decodeTrustToken } from './trust-token'

const name = (description: string, example: string) =>
  Type.Optional(Line({ minLength: 1, maxLength: 100, description, examples: [example] }))

export const incusForm = settingsForm({
  trust_token: Type.Optional(
    Line({
      ...secret,
      minLength: 1,
      maxLength: 8192,
      description:
        'Trust token, as `incus config trust add bailiwick` prints it (LXD: `lxc config trust add --name bailiwick`). Bailiwick exchanges it for a client certificate, and then deletes it. The URL and fingerprint are read from it.',
      writeOnly: true,
    }),
  ),
  ...grouped('Connection', {
    url: Type.Optional(
      Line({
        ...destination,
        minLength: 1,
        maxLength: 2048,
        description:
          'HTTPS URL of the server (`core.https_address`). With a trust token, it is only needed if the addresses in the token can’t be reached.',
        examples: ['https://incus.example.net:8443'],
      }),
    ),
    fingerprint: Type.Optional(
      Line({
        ...destination,
        maxLength: 100,
        description:
          'SHA-256 fingerprint of the certificate of the server, as `incus info` shows it (`certificate_fingerprint`). Only this certificate is accepted. If it is not set, the certificate must be issued by a public CA for the host of the URL.',
      }),
    ),
    client_certificate: Type.Optional(
      Prose({
        maxLength: 16_384,
        description: 'Client certificate in PEM format that the server trusts, if you don’t use a trust token.',
      }),
    ),
    client_key: Type.Optional(
      Prose({
        ...secret,
        maxLength: 16_384,
        description: 'Private key of the client certificate, in PEM format.',
        writeOnly: true,
      }),
    ),
  }),
  ...grouped('Servers', {
    project: Type.Optional(
      Line({
        minLength: 1,
        maxLength: 100,
        default: 'default',
        description: 'Project whose instances are managed.',
      }),
    ),
    profiles: Type.Optional(
      Type.Array(Line({ minLength: 1, maxLength: 100 }), {
        maxItems: 20,
        uniqueItems: true,
        default: ['default'],
        description: 'Profiles of new servers, in order.',
      }),
    ),
    storage_pool: name('Storage pool for the root disk of new servers. Default: from the profiles.', 'default'),
    network: name('Network of new servers that are created without networks. Default: from the profiles.', 'incusbr0'),
  }),
})
export type IncusSettings = SettingsOf<typeof incusForm>

/** Validates what the schema can't express. @throws Problem 422 */
export function validateIncusSettings(settings: IncusSettings): void {
  const { trust_token, url, fingerprint, client_certificate, client_key } = settings
  const problems: (FieldProblem | null)[] = []
  const wrong = (member: keyof IncusSettings, code: FieldProblem['code'], detail: string) =>
    problems.push({ pointer: `#/settings/${member}`, code, detail })
  if (trust_token === undefined) {
    if (client_certificate === undefined && client_key === undefined)
      wrong('trust_token', 'required', 'is required, unless you enter a client certificate and its private key.')
    else {
      if (client_certificate === undefined) wrong('client_certificate', 'required', 'is required with a private key.')
      if (client_key === undefined) wrong('client_key', 'required', 'is required with a client certificate.')
      if (url === undefined) wrong('url', 'required', 'is required without a trust token.')
    }
  } else if (!decodeTrustToken(trust_token))
    wrong('trust_token', 'format', 'must be a trust token as `incus config trust add` prints it, complete and without spaces.')
  if (url !== undefined) {
    const problem = urlProblem('url', url)
    if (problem) problems.push(problem)
    else if (!/^https:/i.test(url)) wrong('url', 'format', 'must be an https URL.')
  }
  if (fingerprint !== undefined && parseFingerprint(fingerprint) === null)
    wrong('fingerprint', 'format', 'must be a SHA-256 fingerprint: 64 hexadecimal digits, with or without colons.')
  if (client_certificate !== undefined && client_key !== undefined)
    problems.push(clientCertificateProblem(client_certificate, client_key))
  const found = problems.filter(one => one !== null)
  if (found.length > 0) throw invalid(found)
}
