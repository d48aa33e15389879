import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { Instant, Line, ListOf, MaybeInstant, Nullable, Shape, Words } from '../../../core/shapes'

export const tsigAlgorithms = ['hmac-sha256', 'hmac-sha1', 'hmac-sha224', 'hmac-sha384', 'hmac-sha512', 'hmac-md5'] as const

const keyExample = {
  id: 'tsig_01k3z8q4g7e2wv5m9x0c6hbtfn',
  name: 'secondary1.example.com',
  algorithm: 'hmac-sha256',
  created_at: '2026-11-21T10:00:00.000Z',
}
const secretExample = 'x6mWvq0rqv2pP0m9a8S0XzZkV7cY0dQ1m3n5b7t9u2w='

const key = {
  id: Type.String({ description: 'Identifier.' }),
  name: Type.String({ description: 'Name, as it is on the wire, without the dot at the end.' }),
  algorithm: Words(tsigAlgorithms, { description: 'How signatures are made (RFC 8945 section 6).' }),
  created_at: Instant({ description: 'When it was made.' }),
}

export const TsigKey = Shape(key, {
  $id: 'TsigKey',
  description: 'A key that other name servers sign with. Its secret is told when it is made, and never again.',
  examples: [keyExample],
})
export const TsigKeyList = ListOf(TsigKey)
export const NewTsigKey = Shape(
  { ...key, secret: Type.String({ description: 'The secret in Base64, as configurations of name servers have it.' }) },
  { $id: 'NewTsigKey', description: 'A key with its secret.', examples: [{ ...keyExample, secret: secretExample }] },
)
export const TsigKeyInput = Shape(
  {
    name: Type.String({ minLength: 1, maxLength: 255, description: 'A domain name; one key has it in the whole installation.' }),
    algorithm: Type.Optional(Words(tsigAlgorithms, { description: '`hmac-sha256` when absent.' })),
    secret: Type.Optional(
      Type.String({ minLength: 1, maxLength: 1024, description: 'Base64 of 16 to 512 octets. Made for you when absent.' }),
    ),
    allow_md5: Type.Optional(
      Type.Boolean({ description: 'Must be true for `hmac-md5`, which is broken and which some routers have alone.' }),
    ),
  },
  { $id: 'TsigKeyInput', description: 'A key to make.', examples: [{ name: 'secondary1.example.com' }] },
)

const mostSecondaries = 20
const mostTransferKeys = 50

const keyId = (description: string) => Type.String({ maxLength: 64, description })
const secondaryExample = {
  id: 'sec_01k3z8q4g7e2wv5m9x0c6hbtfn',
  name: 'ns2',
  address: '198.51.100.53',
  port: 53,
  tsig_key_id: keyExample.id,
  notified_at: '2026-11-21T10:05:00.100Z',
  answered_at: '2026-11-21T10:05:00.120Z',
  problem: null,
}
const example = {
  listen: { host: '0.0.0.0', port: 53 },
  secondaries: [secondaryExample],
  catalog: { enabled: true, name: 'catalog.ws-01k3z8q4g7e2wv5m9x0c6hbtfn.bailiwick', tsig_key_id: keyExample.id, serial: 4 },
  transfer_key_ids: null,
  warnings: [],
  version: 3,
  updated_at: '2026-11-21T10:00:00.000Z',
}
const transferKeys = Nullable(Type.Array(keyId('Id of a TSIG key.'), { maxItems: mostTransferKeys, uniqueItems: true }), {
  description: 'Keys that may transfer every zone; null for all keys of the workspace.',
})
const port = Type.Integer({ minimum: 1, maximum: 65_535, description: 'Port; 53 when absent.' })
const address = Type.String({ minLength: 1, maxLength: 253, description: 'IP address or host name.' })

export const BuiltinProvider = Shape(
  {
    listen: Nullable(
      Shape({
        host: Type.String({ description: 'Address it listens on.' }),
        port: Type.Integer({ description: 'Port, of UDP and TCP.' }),
      }),
      { description: 'Where the name server of this hub answers; null when it is off.' },
    ),
    secondaries: Type.Array(
      Shape({
        id: Type.String({ description: 'Identifier.' }),
        name: Type.String({ description: 'What people know it by.' }),
        address,
        port: Type.Integer({ description: 'Port.' }),
        tsig_key_id: Nullable(Type.String(), { description: 'The key that NOTIFY is signed with; null for none.' }),
        notified_at: MaybeInstant({ description: 'When it was last told of a change.' }),
        answered_at: MaybeInstant({ description: 'When it last answered.' }),
        problem: Nullable(Type.String(), { description: 'What was wrong with the last NOTIFY, for people; null for nothing.' }),
      }),
      { maxItems: mostSecondaries, description: 'Servers that are told when a zone changed (RFC 1996).' },
    ),
    catalog: Shape(
      {
        enabled: Type.Boolean({ description: 'Whether it is served.' }),
        name: Type.String({ description: 'Its name.' }),
        tsig_key_id: Nullable(Type.String(), { description: 'The key that transfers it.' }),
        serial: Type.Integer({ description: 'Moves whenever a zone begins or ceases to be served.' }),
      },
      { description: 'The catalog zone (RFC 9432), from which secondaries learn which zones there are.' },
    ),
    transfer_key_ids: transferKeys,
    warnings: Type.Array(Type.String(), {
      maxItems: mostSecondaries,
      description: 'What does not go together, for people: secondaries whose key may transfer no zone.',
    }),
    version: Type.Integer({ minimum: 0, description: 'Grows with each edit; part of the ETag.' }),
    updated_at: MaybeInstant({ description: 'When it was last edited.' }),
  },
  {
    $id: 'BuiltinProvider',
    description: 'The built-in name server as the primary of the zones of a workspace.',
    examples: [example],
  },
)

export const BuiltinProviderPatch = Shape(
  {
    secondaries: Type.Optional(
      Type.Array(
        Shape({
          name: Type.Optional(Line({ maxLength: 100, description: 'What people know it by.' })),
          address,
          port: Type.Optional(port),
          tsig_key_id: Type.Optional(
            Nullable(keyId('Id of a TSIG key.'), { description: 'The key that NOTIFY is signed with.' }),
          ),
        }),
        { maxItems: mostSecondaries, description: 'All of them; those that are not named are forgotten.' },
      ),
    ),
    catalog: Type.Optional(
      Shape(
        {
          enabled: Type.Optional(Type.Boolean({ description: 'Whether it is served.' })),
          name: Type.Optional(
            Nullable(Type.String({ minLength: 1, maxLength: 200, description: 'Its name.' }), {
              description: 'Its name; null for `catalog.<workspace>.bailiwick`.',
            }),
          ),
          tsig_key_id: Type.Optional(Nullable(keyId('Id of a TSIG key.'), { description: 'The key that transfers it.' })),
        },
        { description: 'Members of the catalog zone.' },
      ),
    ),
    transfer_key_ids: Type.Optional(transferKeys),
  },
  {
    $id: 'BuiltinProviderPatch',
    description: 'What of it is to change.',
    examples: [
      {
        secondaries: [{ name: 'ns2', address: '198.51.100.53', tsig_key_id: keyExample.id }],
        catalog: { enabled: true, tsig_key_id: keyExample.id },
      },
    ],
  },
)

export const ZoneTransfer = Shape(
  {
    zone: Type.String({ description: 'Name of the zone, or of the catalog zone.' }),
    address: Type.String({ description: 'Address that it went to.' }),
    secondary_id: Nullable(Type.String(), {
      description: 'The secondary with this address, of several the one with this key; null when that is none or several.',
    }),
    tsig_key_id: Type.String({ description: 'The key that it was asked for with.' }),
    serial: Type.Integer({ description: 'Serial that was sent.' }),
    how: Words(['axfr', 'ixfr', 'current'], {
      description: 'All of it, what had changed, or nothing, since the server had this serial already.',
    }),
    at: Instant({ description: 'When it ended.' }),
  },
  {
    $id: 'ZoneTransfer',
    description: 'The last transfer of a zone to an address by a key.',
    examples: [
      {
        zone: 'example.com',
        address: '198.51.100.53',
        secondary_id: secondaryExample.id,
        tsig_key_id: keyExample.id,
        serial: 7,
        how: 'ixfr',
        at: '2026-11-21T10:05:00.200Z',
      },
    ],
  },
)
export const ZoneTransferList = Shape(
  { data: Type.Array(ZoneTransfer), truncated: Type.Boolean({ description: 'True when there are more than 1,000.' }) },
  { $id: 'ZoneTransferList', description: 'Transfers, the latest first.' },
)

export type TsigKeyView = Static<typeof TsigKey>
export type TsigKeyInput = Static<typeof TsigKeyInput>
export type BuiltinProviderView = Static<typeof BuiltinProvider>
export type BuiltinProviderPatch = Static<typeof BuiltinProviderPatch>
export type ZoneTransferView = Static<typeof ZoneTransfer>
