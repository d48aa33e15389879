import { Type, type Static } from '@sinclair/typebox'
import { Instant, Nullable, Shape, Words } from '../../../core/shapes'
import { units } from '../metrics/names'
import { AgentReport } from '../../../wire/agent'
import { liveIntervalMs } from '../../../wire/agent-limits'

export const ServerLiveQuery = Shape({
  after: Type.Optional(Instant({ description: 'Only rows after this time.', examples: ['2026-11-27T10:05:00.000Z'] })),
})
export type ServerLiveQuery = Static<typeof ServerLiveQuery>

export const ServerLive = Shape(
  {
    state: Words(['starting', 'running', 'unavailable'], {
      description: '`starting`: the agent was asked. `running`: it sends metrics. `unavailable`: it doesn’t.',
    }),
    reason: Nullable(Type.String(), { description: 'Why it is unavailable. Null if it isn’t.' }),
    interval_seconds: Type.Integer({ description: 'Seconds between two rows.' }),
    rows: Type.Array(
      Shape({
        at: Instant({ description: 'When it was measured.' }),
        metrics: Type.Record(Type.String(), Type.Number(), {
          description:
            'Values by the name of the metric, followed by a colon and the device if it has one, such as `disk.busy_percent:sda`.',
        }),
      }),
      { description: 'What was measured while someone looked at the server, oldest first. At most the last 60 rows.' },
    ),
    processes: Type.Array(AgentReport.properties.moments.items.properties.processes.items, {
      description:
        'The processes that used the most CPU time since the row before the last one, or the most memory, the busiest first.',
    }),
    units: Type.Record(Type.String(), Words(units), { description: 'Units of the metrics, by name.' }),
  },
  {
    $id: 'ServerLive',
    description: 'Live metrics of a server, and its busiest processes.',
    examples: [
      {
        state: 'running',
        reason: null,
        interval_seconds: liveIntervalMs / 1000,
        rows: [{ at: '2026-11-27T10:05:02.000Z', metrics: { 'cpu.used_percent': 12.5, 'disk.busy_percent:sda': 3.1 } }],
        processes: [{ name: 'mysqld', user: 'mysql', cpu_percent: 8.2, memory_bytes: 2_147_483_648, command: null }],
        units: { 'cpu.used_percent': 'percent', 'disk.busy_percent': 'percent' },
      },
    ],
  },
)
export type ServerLiveView = Static<typeof ServerLive>
