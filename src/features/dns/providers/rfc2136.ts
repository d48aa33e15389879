import { Type, type Static } from '@sinclair/typebox'
import { DnsFormatError } from '../../../core/dns/format-error'
import { readTsigKey, tsigAlgorithms, type TsigAlgorithm, type TsigKey } from '../../../core/dns/tsig'
import { canonicalHost } from '../../../core/net/host-name'
import { invalid, type FieldProblem } from '../../../core/problem'
import { Line, Shape, Words } from '../../../core/shapes'
import { ruleProblem } from '../rule-problems'
import { zoneNameOf } from '../zone-names'
import type { ProviderKind } from './provider'
import { updateCaps, UpdatedServer } from './rfc2136-server'

const KeyName = (description: string) => Line({ minLength: 1, maxLength: 255, description, examples: ['bailiwick'] })
const Algorithm = (description: string) => Words(tsigAlgorithms, { description, default: defaultAlgorithm })
const Secret = (description: string) => Line({ minLength: 1, maxLength: 1024, description })

const defaultAlgorithm: TsigAlgorithm = 'hmac-sha256'

const Settings = Shape({
  host: Line({
    minLength: 1,
    maxLength: 255,
    description: 'The primary name server: a host name or an address.',
    examples: ['192.0.2.53'],
  }),
  port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535, default: 53, description: 'Its port, for UDP and TCP.' })),
  key_name: KeyName('The name of the TSIG key that changes are signed with.'),
  algorithm: Type.Optional(Algorithm('Of the key. HMAC-MD5 and HMAC-SHA1 are for servers that have nothing better.')),
  key_secret: Secret('The secret of the key, in base64.'),
  transfer_key_name: Type.Optional(KeyName('The key for transfers (AXFR), where it is another one.')),
  transfer_key_algorithm: Type.Optional(Algorithm('Of the key for transfers.')),
  transfer_key_secret: Type.Optional(Secret('The secret of the key for transfers, in base64.')),
  zones: Type.Optional(
    Type.Array(Line({ minLength: 1, maxLength: 255, description: 'The name of a zone.', examples: ['example.com'] }), {
      maxItems: 1000,
      description: 'Zones of the server, to list and check. There is no way to ask it for them; others can be used all the same.',
    }),
  ),
})
type Settings = Static<typeof Settings>

/** Dynamic updates (RFC 2136) signed with TSIG (RFC 8945), and reading by AXFR (RFC 5936): BIND, Knot DNS, PowerDNS, and others. */
export const rfc2136: ProviderKind<Settings> = {
  kind: 'rfc2136',
  title: 'Dynamic updates (BIND, Knot DNS and others)',
  settings: Settings,
  secrets: ['key_secret', 'transfer_key_secret'],
  destination: ['host', 'port'],
  caps: updateCaps,
  refuse(settings) {
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
    return new UpdatedServer(
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
  return [{ pointer: '#/settings/host', code: 'host', detail: 'must be a host name or an IP address.' }]
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
    const detail = 'is missing: a key for transfers has a name and a secret.'
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

function broken(member: (field: string | null) => string, read: () => unknown): FieldProblem[] {
  try {
    read()
    return []
  } catch (error) {
    if (!(error instanceof DnsFormatError)) throw error
    const { field, rule, reference } = error
    return [ruleProblem(new DnsFormatError(rule, null, reference), `#/settings/${member(field)}`)]
  }
}
