import { Type, type Static } from '@sinclair/typebox'
import { tsigAlgorithms } from '../../../dns/tsig'
import { Line, Shape, Words } from '../../../core/shapes'
import { changed, changedExample } from '../records/shapes'
import type { BlockCode } from '../plans/guards'
import { Op, Reason } from '../plans/op-shapes'

const importModes = ['replace', 'merge'] as const

/** Guards that apply to imports: only those about lost records. New records are expected. */
export const lossCodes = [
  'deletes_over_limit',
  'zone_emptied',
  'loses_apex_ns',
  'loses_apex_mx',
  'loses_apex_address',
  'loses_ds',
  'loses_caa',
] as const satisfies readonly BlockCode[]

/** Options of every import. */
const importOptionFields = {
  mode: Type.Optional(
    Words(importModes, {
      description:
        '`replace`: the zone becomes a copy of the source. `merge`: only the record sets in the source are replaced. Default: `replace` for a zone ' +
        'that has not changed since it was created, otherwise `merge`.',
    }),
  ),
  allow: Type.Optional(
    Type.Array(Words(lossCodes), {
      minItems: 1,
      maxItems: lossCodes.length,
      description: 'Codes of the safety checks to override, from the `reasons` of a `plan_blocked` error.',
    }),
  ),
  note: Type.Optional(Line({ maxLength: 500, description: 'Reason, for the audit log. Required with `allow`.' })),
  dry_run: Type.Optional(Type.Boolean({ default: false, description: 'Returns a preview of the changes without making them.' })),
}

export const ImportQuery = Shape(importOptionFields)
export type ImportQuery = Static<typeof ImportQuery>

export const ExportQuery = Shape({
  format: Type.Optional(
    Words(['bind', 'json'], { default: 'bind', description: '`bind`: a zone file. `json`: JSON that can be imported again.' }),
  ),
  version: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Version of the zone, from its history. Default: the current version.' }),
  ),
})

export const ZoneSource = Shape(
  {
    server: Type.Optional(
      Shape(
        {
          host: Line({ minLength: 1, maxLength: 255, description: 'Hostname or IP address.' }),
          port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535, description: 'TCP port. Default: 53.' })),
        },
        { description: 'Name server to transfer the zone from (AXFR, RFC 5936).' },
      ),
    ),
    key: Type.Optional(
      Shape(
        {
          name: Line({ minLength: 1, maxLength: 255, description: 'Name of the key at the server.' }),
          algorithm: Type.Optional(Words(tsigAlgorithms, { description: 'Default: `hmac-sha256`.' })),
          secret: Line({ minLength: 1, maxLength: 1024, description: 'Secret in base64. It is used once and not stored.' }),
        },
        { description: 'TSIG key (RFC 8945). Without one, the integrity of the transfer can’t be verified.' },
      ),
    ),
    provider_id: Type.Optional(
      Type.String({ maxLength: 64, description: 'ID of the DNS provider of the workspace to read the zone from.' }),
    ),
    ...importOptionFields,
  },
  {
    $id: 'ZoneSource',
    description: 'Where to read the zone from: either `server`, with an optional `key`, or `provider_id`.',
    examples: [
      {
        server: { host: 'ns1.example.com' },
        key: { name: 'bailiwick', algorithm: 'hmac-sha256', secret: 'x6mWvq0rqv2pP0m9a8S0XzZkV7cY0dQ1m3n5b7t9u2w=' },
        mode: 'replace',
      },
    ],
  },
)
export type ZoneSource = Static<typeof ZoneSource>

export const ZoneImportResult = Shape(
  {
    ...changed,
    serial: Type.Integer({ description: 'Serial of the zone after the import. In a dry run, the current serial.' }),
    mode: Words(importModes, { description: 'Import mode that was used.' }),
    skipped: Type.Integer({ minimum: 0, description: 'Number of DNSSEC records that were skipped.' }),
    dry_run: Type.Boolean({ description: 'Whether this was a dry run.' }),
    preview: Type.Optional(
      Shape(
        {
          changes: Type.Array(Op, {
            maxItems: 1000,
            description: 'Changes by record set. Only the first 1,000 are included.',
          }),
          change_count: Type.Integer({ minimum: 0, description: 'Number of record sets that would change.' }),
          blocked: Type.Array(Reason, { description: 'Reasons that would block the import unless each is allowed.' }),
        },
        { description: 'Changes the import would make. Only with `dry_run`.' },
      ),
    ),
  },
  {
    $id: 'ZoneImportResult',
    description: 'Result of an import.',
    examples: [{ ...changedExample, mode: 'replace', skipped: 0, dry_run: false }],
  },
)
export type ZoneImportResult = Static<typeof ZoneImportResult>
