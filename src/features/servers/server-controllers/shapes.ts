import { Type, type Static } from '@sinclair/typebox'
import { accountFields, accountInput, checkFields } from '../../../adapters/accounts/shapes'
import { kindFields } from '../../../adapters/kinds'
import { editable, NullableInstant, Shape, SinglePageOf, Words } from '../../../core/shapes'
import { cloudFailures } from '../clouds/cloud'
import { controllerKinds } from '../controllers'
import { controllerVerbs } from '../controllers/controller'
import { powerStates } from '../shapes'

const kinds = controllerKinds.map(one => one.kind)
const listedAt = '/v1/controller-kinds'
const { name: _, ...fields } = accountFields(kinds, listedAt)

const example = {
  id: 'ctl_01k3z9a1b2c3d4e5f6g7h8j9km',
  server_id: 'srv_01k3z9a1b2c3d4e5f6g7h8j9km',
  kind: 'ipmi',
  settings: { host: '192.0.2.5', user: 'bailiwick', cipher_suite: 17 },
  secrets_set: ['password'],
  state: 'ok',
  detail: 'IPMI 2.0, firmware 2.41, Dell, product 256',
  warnings: [],
  last_checked_at: '2026-11-27T10:05:00.000Z',
  last_ok_at: '2026-11-27T10:05:00.000Z',
  last_error: null,
  power: 'on',
  power_at: '2026-11-27T10:05:30.000Z',
  version: 1,
  created_at: '2026-11-27T10:00:00.000Z',
  updated_at: '2026-11-27T10:00:00.000Z',
}

export const ServerController = Shape(
  {
    id: Type.String({ description: 'ID of the controller.' }),
    server_id: Type.String({ description: 'ID of the server.' }),
    kind: fields.kind,
    settings: fields.settings,
    secrets_set: fields.secrets_set,
    ...checkFields(cloudFailures),
    power: Words(powerStates, { description: 'Power of the server, as last read. `unknown` for kinds that can’t read it.' }),
    power_at: NullableInstant({ description: 'When the power was last read; null if never.' }),
    ...editable,
  },
  {
    $id: 'ServerController',
    description: 'A way to control the power of a server, such as its BMC, and the credentials to access it.',
    examples: [example],
  },
)
export const ServerControllerList = SinglePageOf(ServerController)

export const ServerControllerInput = Shape(
  { settings: accountInput(kinds, listedAt).settings },
  {
    $id: 'ServerControllerInput',
    description: 'Settings of a controller.',
    examples: [{ settings: { host: '192.0.2.5', user: 'bailiwick', password: 'changeme-9f2c41' } }],
  },
)

const ControllerKindInfo = Shape(
  {
    ...kindFields,
    capabilities: Shape(
      {
        actions: Type.Array(Words(controllerVerbs), { description: 'Actions that are possible for servers.' }),
        reads_power: Type.Boolean({ description: 'Whether it can read the power state of the server.' }),
      },
      { description: 'Capabilities, independent of the settings.' },
    ),
  },
  {
    $id: 'ControllerKindInfo',
    description: 'A kind of controller.',
    examples: [
      {
        kind: 'wake_on_lan',
        title: 'Wake-on-LAN',
        settings: { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' },
        secrets: [],
        destination: ['broadcast', 'port'],
        capabilities: { actions: ['power_on'], reads_power: false },
      },
    ],
  },
)
export const ControllerKindInfoList = SinglePageOf(ControllerKindInfo)

export type ServerControllerView = Static<typeof ServerController>
export type ServerControllerInput = Static<typeof ServerControllerInput>
export type ControllerKindView = Static<typeof ControllerKindInfo>
