import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { Nullable, Shape, Words } from '../../../core/shapes'
import { monitorTypes } from '../shapes'

const MonitorTypeInfo = Shape(
  {
    type: Words(monitorTypes, { description: 'Name of the type, as used in `type` of a monitor.' }),
    title: Type.String({ description: 'Short title.' }),
    description: Type.String({ description: 'What a check of this type does, and when it fails.' }),
    target: Nullable(Type.String(), { description: 'Expected form of `target`, with an example; null for a group.' }),
    options: Type.Record(Type.String(), Type.Unknown(), { description: 'JSON Schema for `options`.' }),
    secrets: Type.Array(Type.String(), { description: 'Secret options, as JSON pointers within `options`.' }),
    sources: Type.Array(Type.String(), { description: 'Values that conditions can use, such as `STATUS` for `[STATUS]`.' }),
  },
  {
    $id: 'MonitorTypeInfo',
    description: 'A check type.',
    examples: [
      {
        type: 'group',
        title: 'Group',
        description: 'Combines multiple monitors into one.',
        target: null,
        options: { type: 'object' },
        secrets: [],
        sources: [],
      },
    ],
  },
)
export const MonitorTypeInfoList = Shape(
  { data: Type.Array(MonitorTypeInfo, { description: 'All check types.' }) },
  { $id: 'MonitorTypeInfoList', description: 'All check types.' },
)

const target = Type.String({ minLength: 1, maxLength: 2048, description: 'A URL, `host:port`, hostname, or IP address.' })

export const SuggestionsQuery = Type.Object({ target }, { additionalProperties: false })

export const DetectionInput = Shape(
  { target },
  {
    $id: 'MonitorDetectionInput',
    description: 'A target to detect monitors for.',
    examples: [{ target: 'db.example.com:8080' }],
  },
)

const MonitorSuggestion = Shape({
  type: Words(monitorTypes, { description: 'Check type.' }),
  title: Type.String({ description: 'Short title of the type.' }),
  target: Type.String({ description: 'Target of the monitor.' }),
  name: Type.String({ description: 'Suggested name.' }),
  certificate_error: Type.Optional(
    Type.String({
      description:
        'Why the certificate of the server is not trusted. Checks fail unless you set `options.ca`, or `options.verify_tls` to false. Omitted if it is trusted, and for servers that were not contacted.',
    }),
  ),
})
export type MonitorSuggestionView = Static<typeof MonitorSuggestion>

export const MonitorSuggestionList = Shape(
  {
    data: Type.Array(MonitorSuggestion, {
      description: 'Suggestions, best match first. Empty if the input is not a valid target.',
    }),
  },
  {
    $id: 'MonitorSuggestionList',
    description: 'Monitors suggested for a target.',
    examples: [
      {
        data: [
          { type: 'http', title: 'HTTP(S)', target: 'https://shop.example.com/', name: 'shop.example.com' },
          { type: 'tls', title: 'TLS certificate', target: 'shop.example.com:443', name: 'shop.example.com' },
        ],
      },
    ],
  },
)

export type MonitorTypeView = Static<typeof MonitorTypeInfo>
