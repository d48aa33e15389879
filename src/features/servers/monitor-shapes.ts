import { Type, type Static } from '@sinclair/typebox'
import { Nullable, Shape } from '../../core/shapes'

export const ServerMonitors = Shape(
  {
    monitor_id: Nullable(Type.String(), { description: 'ID of the monitor that follows the server. Null if there is none.' }),
    data: Type.Array(
      Shape({
        id: Type.String({ description: 'ID of the monitor.' }),
        name: Type.String({ description: 'Name of the monitor.' }),
        type: Type.String({ description: 'Type of the monitor.' }),
        target: Type.String({ description: 'Target of the monitor.' }),
        address: Type.String({ description: 'The address of the server, or the name that has it.' }),
        depends_on: Type.Array(Type.String(), { description: 'IDs of the monitors that it depends on.' }),
        depends_on_server: Type.Boolean({ description: 'Whether these include `monitor_id`.' }),
      }),
      { description: 'The monitors, in the order in which they were created.' },
    ),
  },
  {
    $id: 'ServerMonitors',
    description: 'Monitors whose targets are at a server.',
    examples: [
      {
        monitor_id: 'mon_01k3z9a1b2c3d4e5f6g7h8j9km',
        data: [
          {
            ...{ id: 'mon_01jd8f3q7eeb9bv0w0r8c7hq2m', name: 'Shop', type: 'http', target: 'https://shop.example.com/' },
            ...{ address: 'shop.example.com', depends_on: [], depends_on_server: false },
          },
        ],
      },
    ],
  },
)
export type ServerMonitorsView = Static<typeof ServerMonitors>
