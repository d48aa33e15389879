import { Type, type Static } from '@sinclair/typebox'
import { Instant, Nullable, NullableInstant, Shape, Words } from '../../../core/shapes'

/** `silent`: it has not reported for too long. `stopped`: it announced that it stops, or its server was switched off here. */
export const agentStates = ['reporting', 'silent', 'stopped'] as const
export type AgentState = (typeof agentStates)[number]

/** Why an agent stops: its server is switched off, restarts, or only the program ends. */
export const stopReasons = ['shutdown', 'reboot', 'stop'] as const
export type StopReason = (typeof stopReasons)[number]

/** What an agent may do on its server, such as `firewall` or `restart:nginx`. */
export type AgentPermission = 'collect' | 'update' | 'reboot' | 'firewall' | 'wake' | `restart:${string}` | `recipe:${string}`

/** What an agent knows about its server. Absent facts are unknown. */
export interface AgentFacts {
  hostname?: string
  /** `PRETTY_NAME` in os-release. */
  os?: string
  /** `ID` and `VERSION_ID` in os-release, such as `debian-12`. */
  image?: string
  kernel?: string
  arch?: string
  cores?: number
  memory_bytes?: number
  disk_bytes?: number
  addresses?: string[]
  /** Network interfaces of its default routes, such as `eth0`. */
  uplinks?: string[]
  /** ID of the user that the agent runs as. */
  agent_uid?: number
}

const summary = {
  id: Type.String({ description: 'ID of the agent.' }),
  state: Words(agentStates, {
    description:
      '`silent`: it has not reported for three of its intervals, and not for at least 90 seconds. `stopped`: it announced that it stops, or its server was switched off here.',
  }),
  version: Type.String({ description: 'Version of the agent.' }),
  last_seen_at: Instant({ description: 'When it last reported.' }),
}

const example = {
  id: 'agent_01k3z9a1b2c3d4e5f6g7h8j9km',
  state: 'reporting' as const,
  version: '0.3.0',
  last_seen_at: '2026-11-27T10:05:00.000Z',
}

export const AgentSummary = Shape(summary, {
  $id: 'ServerAgentSummary',
  description: 'The agent of a server.',
  examples: [example],
})

export const Agent = Shape(
  {
    ...summary,
    server_id: Type.String({ description: 'ID of its server.' }),
    interval_seconds: Type.Integer({ description: 'Seconds between two reports.' }),
    allow: Type.Array(Type.String(), { description: 'What it may do, according to a file on the server.' }),
    silent_since_at: NullableInstant({ description: 'Since when it is silent; null if it isn’t.' }),
    stop_reason: Nullable(Words(stopReasons), {
      description: 'Why it stopped: the server is switched off or restarts, or only the agent stops. Null if it didn’t.',
    }),
    created_at: Instant({ description: 'When it was enrolled.' }),
  },
  {
    $id: 'Agent',
    description: 'The program on a server that reports what the server is doing.',
    examples: [
      {
        ...example,
        server_id: 'srv_01k3z9a1b2c3d4e5f6g7h8j9km',
        interval_seconds: 60,
        allow: ['collect'],
        silent_since_at: null,
        stop_reason: null,
        created_at: '2026-11-21T10:00:00.000Z',
      },
    ],
  },
)

export type AgentSummaryView = Static<typeof AgentSummary>
export type AgentView = Static<typeof Agent>
