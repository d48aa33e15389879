import { Type, type Static } from '@sinclair/typebox'
import { tsigAlgorithms } from '../../core/dns/tsig'
import { Line, Shape, Words } from '../../core/shapes'
import { intakeMembers } from './zone-intake'

export const ZoneSource = Shape(
  {
    server: Type.Optional(
      Shape(
        {
          host: Line({ minLength: 1, maxLength: 255, description: 'A host name or an IP address.' }),
          port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535, description: 'Its TCP port; 53 when absent.' })),
        },
        { description: 'A name server that transfers the zone (AXFR, RFC 5936).' },
      ),
    ),
    key: Type.Optional(
      Shape(
        {
          name: Line({ minLength: 1, maxLength: 255, description: 'Its name at the server.' }),
          algorithm: Type.Optional(Words(tsigAlgorithms, { description: '`hmac-sha256` when absent.' })),
          secret: Line({ minLength: 1, maxLength: 1024, description: 'The secret in Base64. It is used once and not kept.' }),
        },
        { description: 'The TSIG key that the server asks for (RFC 8945). Without one nothing proves that the zone came whole.' },
      ),
    ),
    provider_id: Type.Optional(Type.String({ maxLength: 64, description: 'A provider of the workspace that has the zone.' })),
    ...intakeMembers,
  },
  {
    $id: 'ZoneSource',
    description: 'Where a zone is read from: either a `server`, with a `key` or without, or a `provider_id`.',
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
