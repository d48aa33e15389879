import { type Static, Type } from '@sinclair/typebox'
import { Instant, Line, ListOf, NullableInstant, Nullable, Shape, Words } from '../../../core/shapes'
import { DnsProvider } from '../accounts/shapes'
import { builtin } from '../zones/shapes'

const tsigAlgorithms = ['hmac-sha256', 'hmac-sha1', 'hmac-sha224', 'hmac-sha384', 'hmac-sha512', 'hmac-md5'] as const

const keyExample = {
  id: 'tsig_01k3z8q4g7e2wv5m9x0c6hbtfn',
  name: 'secondary1.example.com',
  algorithm: 'hmac-sha256',
  created_at: '2026-11-21T10:00:00.000Z',
}
const secretExample = 'x6mWvq0rqv2pP0m9a8S0XzZkV7cY0dQ1m3n5b7t9u2w='

const key = {
  id: Type.String({ description: 'ID of the key.' }),
  name: Type.String({ description: 'Key name, without the trailing dot.' }),
  algorithm: Words(tsigAlgorithms, { description: 'Algorithm (RFC 8945 section 6).' }),
  created_at: Instant({ description: 'When the key was created.' }),
}

export const TsigKey = Shape(key, {
  $id: 'TsigKey',
  description: 'A TSIG key with which other name servers sign their requests. Its secret is returned only on creation.',
  examples: [keyExample],
})
export const TsigKeyList = ListOf(TsigKey)
export const TsigKeyWithSecret = Shape(
  {
    ...key,
    secret: Type.Optional(
      Type.String({
        description: 'Secret in base64, as used in name server configurations. Shown only once; store it securely.',
      }),
    ),
    secret_shown_before: Type.Optional(
      Type.Boolean({ description: 'True if the response is replayed for an Idempotency-Key. The secret is then omitted.' }),
    ),
  },
  { $id: 'TsigKeyWithSecret', description: 'A TSIG key with its secret.', examples: [{ ...keyExample, secret: secretExample }] },
)
export const TsigKeyInput = Shape(
  {
    name: Type.String({ minLength: 1, maxLength: 255, description: 'Key name: a domain name, unique within the installation.' }),
    algorithm: Type.Optional(Words(tsigAlgorithms, { description: 'Algorithm. Default: `hmac-sha256`.' })),
    secret: Type.Optional(
      Type.String({ minLength: 1, maxLength: 1024, description: 'Secret of 16 to 512 octets in base64. Generated if omitted.' }),
    ),
    allow_md5: Type.Optional(
      Type.Boolean({
        description: 'Must be true for `hmac-md5`, which is insecure and meant only for devices that support nothing else.',
      }),
    ),
  },
  { $id: 'TsigKeyInput', description: 'A TSIG key to create.', examples: [{ name: 'secondary1.example.com' }] },
)

const maxSecondaries = 20
const maxTransferKeys = 50

const keyId = (description: string) => Type.String({ maxLength: 64, description })
const secondaryExample = {
  id: 'sec_01k3z8q4g7e2wv5m9x0c6hbtfn',
  name: 'ns2',
  address: '198.51.100.53',
  port: 53,
  tsig_key_id: keyExample.id,
  notified_at: '2026-11-21T10:05:00.100Z',
  acknowledged_at: '2026-11-21T10:05:00.120Z',
  error: null,
}
const example = {
  id: builtin,
  kind: builtin,
  name: 'Built-in name server',
  settings: {},
  secrets_set: [],
  state: 'ok',
  detail: null,
  warnings: [],
  last_checked_at: null,
  last_ok_at: null,
  last_error: null,
  version: 3,
  created_at: '2026-11-20T10:00:00.000Z',
  updated_at: '2026-11-21T10:00:00.000Z',
  listen: { host: '0.0.0.0', port: 53 },
  secondaries: [secondaryExample],
  catalog: { enabled: true, name: 'catalog.ws-01k3z8q4g7e2wv5m9x0c6hbtfn.bailiwick', tsig_key_id: keyExample.id, serial: 4 },
  transfer_key_ids: null,
}
const transferKeys = Nullable(Type.Array(keyId('ID of a TSIG key.'), { maxItems: maxTransferKeys, uniqueItems: true }), {
  description:
    'IDs of the TSIG keys that can transfer all zones of the workspace. Null allows all keys of the workspace; an empty list allows none.',
})
const port = Type.Integer({ minimum: 1, maximum: 65_535, description: 'UDP and TCP port. Default: 53.' })
const address = Type.String({ minLength: 1, maxLength: 253, description: 'IP address or hostname.' })

export const BuiltinProvider = Shape(
  {
    ...DnsProvider.properties,
    listen: Nullable(
      Shape({
        host: Type.String({ description: 'Listen address.' }),
        port: Type.Integer({ description: 'UDP and TCP port.' }),
      }),
      { description: 'Listen address of the built-in name server; null if it is disabled.' },
    ),
    secondaries: Type.Array(
      Shape({
        id: Type.String({ description: 'ID of the secondary.' }),
        name: Type.String({ description: 'Display name.' }),
        address,
        port: Type.Integer({ description: 'UDP and TCP port.' }),
        tsig_key_id: Nullable(Type.String(), {
          description: 'ID of the key that NOTIFY messages are signed with; null if unsigned.',
        }),
        notified_at: NullableInstant({ description: 'When the last NOTIFY was sent; null if never.' }),
        acknowledged_at: NullableInstant({ description: 'When the secondary last responded to a NOTIFY; null if never.' }),
        error: Nullable(Type.String(), { description: 'Error of the last NOTIFY; null if it succeeded.' }),
      }),
      { maxItems: maxSecondaries, description: 'Secondary name servers to notify of zone changes (RFC 1996).' },
    ),
    catalog: Shape(
      {
        enabled: Type.Boolean({ description: 'Whether the catalog zone is served.' }),
        name: Type.String({ description: 'Name of the catalog zone.' }),
        tsig_key_id: Nullable(Type.String(), {
          description: 'ID of the TSIG key that can transfer the catalog zone; null if none is set.',
        }),
        serial: Type.Integer({ description: 'SOA serial; increases when zones are added or removed.' }),
      },
      { description: 'Catalog zone (RFC 9432) that tells secondaries which zones to serve.' },
    ),
    transfer_key_ids: transferKeys,
  },
  {
    $id: 'BuiltinProvider',
    description: 'The built-in name server: a DNS provider, with its settings as the primary of the workspace’s zones.',
    examples: [example],
  },
)

export const BuiltinProviderPatch = Shape(
  {
    secondaries: Type.Optional(
      Type.Array(
        Shape({
          name: Type.Optional(Line({ maxLength: 100, description: 'Display name.' })),
          address,
          port: Type.Optional(port),
          tsig_key_id: Type.Optional(
            Nullable(keyId('ID of a TSIG key.'), {
              description: 'ID of the TSIG key to sign NOTIFY messages with. Null or omitted: they are not signed.',
            }),
          ),
        }),
        {
          maxItems: maxSecondaries,
          description:
            'Complete list of secondaries. Secondaries that are not in it are removed; one with the same address and port keeps its ID.',
        },
      ),
    ),
    catalog: Type.Optional(
      Shape(
        {
          enabled: Type.Optional(Type.Boolean({ description: 'Whether the catalog zone is served.' })),
          name: Type.Optional(
            Nullable(Type.String({ minLength: 1, maxLength: 200, description: 'Name of the catalog zone.' }), {
              description: 'Name of the catalog zone; null for the default, `catalog.<workspace>.bailiwick`.',
            }),
          ),
          tsig_key_id: Type.Optional(
            Nullable(keyId('ID of a TSIG key.'), {
              description: 'ID of the TSIG key that can transfer the catalog zone. Required to enable it.',
            }),
          ),
        },
        { description: 'Catalog zone settings.' },
      ),
    ),
    transfer_key_ids: Type.Optional(transferKeys),
  },
  {
    $id: 'BuiltinProviderPatch',
    description: 'Settings to update.',
    examples: [
      {
        secondaries: [{ name: 'ns2', address: '198.51.100.53', tsig_key_id: keyExample.id }],
        catalog: { enabled: true, tsig_key_id: keyExample.id },
      },
    ],
  },
)

const ZoneTransfer = Shape(
  {
    zone: Type.String({ description: 'Name of the zone or catalog zone.' }),
    address: Type.String({ description: 'Address of the client.' }),
    secondary_id: Nullable(Type.String(), {
      description:
        'ID of the secondary with this address. If several secondaries share the address, the key must match too. Null if there is no match or more than one.',
    }),
    tsig_key_id: Type.String({ description: 'ID of the key that signed the request.' }),
    serial: Type.Integer({ description: 'Serial that was transferred.' }),
    type: Words(['axfr', 'ixfr', 'up_to_date'], {
      description:
        'Full transfer (`axfr`), incremental transfer (`ixfr`), or nothing to send because the client was `up_to_date`.',
    }),
    transferred_at: Instant({ description: 'When the transfer finished.' }),
  },
  {
    $id: 'ZoneTransfer',
    description: 'The last transfer of a zone to an address with a key.',
    examples: [
      {
        zone: 'example.com',
        address: '198.51.100.53',
        secondary_id: secondaryExample.id,
        tsig_key_id: keyExample.id,
        serial: 7,
        type: 'ixfr',
        transferred_at: '2026-11-21T10:05:00.200Z',
      },
    ],
  },
)
export const ZoneTransferList = Shape(
  {
    data: Type.Array(ZoneTransfer, { description: 'Transfers, newest first.' }),
    truncated: Type.Boolean({ description: 'True if there are more than 1,000 transfers and older ones were omitted.' }),
  },
  { $id: 'ZoneTransferList', description: 'Transfers, newest first.' },
)

export type TsigKeyView = Static<typeof TsigKey>
export type TsigKeyInput = Static<typeof TsigKeyInput>
export type BuiltinProviderView = Static<typeof BuiltinProvider>
export type BuiltinProviderPatch = Static<typeof BuiltinProviderPatch>
export type ZoneTransferView = Static<typeof ZoneTransfer>
