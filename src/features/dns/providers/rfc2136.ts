import { Type } from '@sinclair/typebox'
import { destination, secret, settingsForm, type SettingsOf } from '../../../adapters/settings-form'
import { catchFormatError, DnsFormatError } from '../../../dns/format-error'
import { readTsigKey, tsigAlgorithms, type TsigAlgorithm, type TsigKey } from '../../../dns/tsig'
import { canonicalHost } from '../../../core/net/host-name'
import { invalid, type FieldProblem } from '../../../core/problem'
import { grouped, Line, Words } from '../../../core/shapes'
import { ruleProblem } from '../records/parse-field'
import { zoneNameOf } from '../zones/names'
import type { ProviderKind } from './provider'
import { updateCaps, DynamicUpdateServer } from './rfc2136-server'

const KeyName = (description: string) => Line({ minLength: 1, maxLength: 255, description, examples: ['bailiwick'] })
const Algorithm = (description: string) => Words(tsigAlgorithms, { description, default: defaultAlgorithm })
const KeySecret = (description: string) => Line({ ...secret, minLength: 1, maxLength: 1024, description })

const defaultAlgorithm: TsigAlgorithm = 'hmac-sha256'

const form = settingsForm({
  host: Line({
    ...destination,
    minLength: 1,
    maxLength: 255,
    description: 'Hostname or IP address of the primary name server.',
    examples: ['192.0.2.53'],
  }),
  key_name: KeyName('Name of the TSIG key for updates.'),
  key_secret: KeySecret('Secret of the key in Base64.'),
  ...grouped('Server and key', {
    port: Type.Optional(
      Type.Integer({ ...destination, minimum: 1, maximum: 65_535, default: 53, description: 'UDP and TCP port.' }),
    ),
    algorithm: Type.Optional(
      Algorithm('Algorithm of the key. Use HMAC-MD5 and HMAC-SHA1 only for servers that support nothing better.'),
    ),
  }),
  ...grouped('Key for zone transfers', {
    transfer_key_name: Type.Optional(KeyName('Name of the TSIG key for zone transfers (AXFR), if different.')),
    transfer_key_algorithm: Type.Optional(Algorithm('Algorithm of the transfer key.')),
    transfer_key_secret: Type.Optional(KeySecret('Secret of the transfer key in Base64.')),
  }),
  ...grouped('Zones', {
    zones: Type.Optional(
      Type.Array(Line({ minLength: 1, maxLength: 255, description: 'Zone name.', examples: ['example.com'] }), {
        maxItems: 1000,
        description:
          'Zones on this server. The protocol can’t list them, so this list is used to show zones and to check the key. Other zones can be used too.',
      }),
    ),
  }),
})
type Settings = SettingsOf<typeof form>

/** Dynamic updates (RFC 2136) with TSIG (RFC 8945), read by AXFR (RFC 5936): BIND, Knot DNS, PowerDNS, and others. */
export const rfc2136: ProviderKind<Settings> = {
  kind: 'rfc2136',
  title: 'Dynamic updates (BIND, Knot DNS, and others)',
  ...form,
  caps: updateCaps,
  validate(settings) {
    const problems = [...hostProblems(settings), ...keyProblems(settings), ...zoneProblems(settings)]
    if (problems.length > 0) throw invalid(problems)
  },
  notifyKeys(settings: Settings) {
    const transferKey = transferKeyOf(settings)
    return transferKey ? [keyOf(settings), transferKey] : [keyOf(settings)]
  },
  open(settings, around) {
    const key = keyOf(settings)
    const { host, port = 53, zones } = settings
    return new DynamicUpdateServer(
      { host, port, key, transferKey: transferKeyOf(settings) ?? key, zones: zones?.map(zoneNameOf) ?? null },
      around,
    )
  },
}

const keyOf = ({ key_name, algorithm = defaultAlgorithm, key_secret }: Settings): TsigKey =>
  readTsigKey({ name: key_name, algorithm, secret: key_secret })

function transferKeyOf(settings: Settings): TsigKey | null {
  const { transfer_key_name: name, transfer_key_algorithm: algorithm = defaultAlgorithm, transfer_key_secret: secret } = settings
  return name !== undefined && secret !== undefined ? readTsigKey({ name, algorithm, secret }) : null
}

function hostProblems({ host }: Settings): FieldProblem[] {
  if (canonicalHost(host) !== null) return []
  return [{ pointer: '#/settings/host', code: 'host', detail: 'must be a hostname or an IP address.' }]
}

function keyProblems(settings: Settings): FieldProblem[] {
  const problems = [
    ...broken(
      field => `key_${field}`,
      () => keyOf(settings),
    ),
    ...broken(
      field => `transfer_key_${field}`,
      () => transferKeyOf(settings),
    ),
  ]
  if ((settings.transfer_key_name === undefined) !== (settings.transfer_key_secret === undefined)) {
    const missing = settings.transfer_key_name === undefined ? 'name' : 'secret'
    const detail = 'is required: a transfer key needs a name and a secret.'
    problems.push({ pointer: `#/settings/transfer_key_${missing}`, code: 'required', detail })
  }
  return problems
}

const zoneProblems = ({ zones = [] }: Settings): FieldProblem[] =>
  zones.flatMap((name, place) =>
    broken(
      () => `zones/${place}`,
      () => zoneNameOf(name),
    ),
  )

const broken = (member: (field: string | null) => string, read: () => unknown): FieldProblem[] =>
  catchFormatError(
    () => {
      read()
      return []
    },
    ({ field, rule, reference }) => [ruleProblem(new DnsFormatError(rule, null, reference), `#/settings/${member(field)}`)],
  )
