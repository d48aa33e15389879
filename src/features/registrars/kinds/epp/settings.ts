import { Type } from '@sinclair/typebox'
import { clientCertificateProblem } from '../../../../adapters/client-certificate'
import { destination, secret, settingsForm, type SettingsOf } from '../../../../adapters/settings-form'
import { isCurrency } from '../../../../core/money'
import { parseFingerprint } from '../../../../core/net/fingerprint'
import { canonicalHost } from '../../../../core/net/host-name'
import { invalid, type FieldProblem } from '../../../../core/problem'
import { grouped, Line, Prose } from '../../../../core/shapes'
import type { EppAccess } from './session'

const defaultPort = 700

const password = (description: string) => Line({ ...secret, minLength: 6, maxLength: 64, description, writeOnly: true })

export const eppForm = settingsForm({
  user: Line({ minLength: 3, maxLength: 64, description: 'Client identifier that the registry assigned to you (`clID`).' }),
  password: password('Password of the client identifier.'),
  new_password: Type.Optional(
    password(
      'Changes the password at the registry the next time that Bailiwick logs in. Afterwards, enter it as the password, and clear this setting.',
    ),
  ),
  ...grouped('Connection', {
    host: Line({
      ...destination,
      minLength: 1,
      maxLength: 253,
      description: 'Hostname or IP address of the EPP server.',
      examples: ['epp.registry.example'],
    }),
    port: Type.Optional(
      Type.Integer({ ...destination, minimum: 1, maximum: 65_535, default: defaultPort, description: 'Port of the EPP server.' }),
    ),
    fingerprint: Type.Optional(
      Line({
        ...destination,
        maxLength: 100,
        description:
          'SHA-256 fingerprint of the certificate of the server. Only this certificate is accepted. If it is not set, the certificate must be issued by a public CA for the host.',
      }),
    ),
    client_certificate: Type.Optional(
      Prose({ maxLength: 16_384, description: 'Client certificate in PEM format, if the registry requires one.' }),
    ),
    client_key: Type.Optional(
      Prose({
        ...secret,
        maxLength: 16_384,
        description: 'Private key of the client certificate, in PEM format without a passphrase.',
        writeOnly: true,
      }),
    ),
  }),
  ...grouped('Registry', {
    registrar_id: Type.Optional(
      Line({
        minLength: 1,
        maxLength: 64,
        description: 'Identifier under which the registry lists your domains, if it is not the client identifier.',
      }),
    ),
    currency: Type.Optional(
      Line({
        minLength: 3,
        maxLength: 3,
        description: 'Currency to ask prices in, such as `EUR`. Default: the one of your account at the registry.',
      }),
    ),
  }),
})
export type EppSettings = SettingsOf<typeof eppForm>

/** Validates what the schema can't express. @throws Problem 422 */
export function validateEppSettings(settings: EppSettings): void {
  const { host, fingerprint, client_certificate, client_key, currency } = settings
  const problems: (FieldProblem | null)[] = []
  const wrong = (member: keyof EppSettings, code: FieldProblem['code'], detail: string) =>
    problems.push({ pointer: `#/settings/${member}`, code, detail })
  if (canonicalHost(host) === null) wrong('host', 'format', 'must be a hostname or an IP address.')
  if (fingerprint !== undefined && parseFingerprint(fingerprint) === null)
    wrong('fingerprint', 'format', 'must be a SHA-256 fingerprint: 64 hexadecimal digits, with or without colons.')
  if (client_certificate !== undefined && client_key !== undefined)
    problems.push(clientCertificateProblem(client_certificate, client_key))
  else if (client_key !== undefined) wrong('client_certificate', 'required', 'is required with a private key.')
  else if (client_certificate !== undefined) wrong('client_key', 'required', 'is required with a client certificate.')
  if (currency !== undefined && !isCurrency(currency)) wrong('currency', 'format', 'must be a currency code such as EUR.')
  const found = problems.filter(one => one !== null)
  if (found.length > 0) throw invalid(found)
}

export function accessOf(settings: EppSettings): EppAccess {
  const { host, port = defaultPort, fingerprint, client_certificate, client_key, user, password, new_password } = settings
  return {
    host,
    port,
    pin: fingerprint === undefined ? undefined : (parseFingerprint(fingerprint) ?? undefined),
    clientCertificate:
      client_certificate === undefined || client_key === undefined ? undefined : { cert: client_certificate, key: client_key },
    user,
    password,
    newPassword: new_password,
  }
}
