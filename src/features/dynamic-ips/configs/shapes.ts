import { type Static, Type } from '@sinclair/typebox'
import { Shape, SinglePageOf, Words } from '../../../core/shapes'
import { configLanguages } from './client-config'

const DynamicIpConfigFile = Shape(
  {
    name: Type.String({ description: 'Path of the file, or label of the field in the settings of the client.' }),
    language: Words(configLanguages, { description: 'Language, for syntax highlighting.' }),
    content: Type.String({ description: 'Text to copy. `{{TOKEN}}` stands for the token.' }),
  },
  { $id: 'DynamicIpConfigFile', description: 'A text to copy into the configuration of a client.' },
)

const DynamicIpClientConfig = Shape(
  {
    client: Type.String({ description: 'Identifier of the client, such as `ddclient3`.' }),
    title: Type.String({ description: 'Name of the client.' }),
    files: Type.Array(DynamicIpConfigFile, { description: 'Files, or values of fields, in the order of the steps.' }),
    steps: Type.Array(Type.String(), { description: 'What to do, in order.' }),
    notes: Type.Array(Type.String(), { description: 'What to keep in mind.' }),
  },
  {
    $id: 'DynamicIpClientConfig',
    description: 'How to configure a client for a dynamic IP source.',
    examples: [
      {
        client: 'synology',
        title: 'Synology DSM',
        files: [{ name: 'Hostname', language: 'text', content: 'office.example.com' }],
        steps: ['Go to Control Panel > External Access > DDNS.'],
        notes: [],
      },
    ],
  },
)

export const DynamicIpClientConfigList = SinglePageOf(DynamicIpClientConfig)

export type DynamicIpClientConfigView = Static<typeof DynamicIpClientConfig>
