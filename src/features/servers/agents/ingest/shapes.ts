import { Type } from '@sinclair/typebox'
import { Nullable, Shape, Words } from '../../../../core/shapes'
import { commandOutcomes, maxOutputBytes } from '../../../../wire/agent-command'
import { AgentConfig, AgentEnrolment, AgentLiveMetrics, AgentReport } from '../../../../wire/agent'
import { liveMs } from '../../../../wire/agent-limits'

/** The messages of src/wire/agent, as they are described in the API. */

const config = { interval_seconds: 60, watched_units: [] }

export const AgentEnrolmentInput = {
  ...AgentEnrolment,
  $id: 'AgentEnrolment',
  description: 'What an agent sends to be enrolled.',
  examples: [
    {
      v: 1,
      machine_id_hash: '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
      public_key: 'ed25519:11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
      version: '0.3.0',
      allow: ['collect'],
      facts: { hostname: 'web-1', os: 'Debian GNU/Linux 12 (bookworm)', arch: 'x86_64', virtualization: 'kvm' },
    },
  ],
}

export const AgentEnrolled = Shape(
  {
    agent_id: Type.String({ description: 'ID of the agent.' }),
    server_id: Type.String({ description: 'ID of the server that it reports about.' }),
    token: Type.String({ description: 'Token of the agent. Shown only once.' }),
    hub_key: Type.String({ description: 'Ed25519 key with which commands are signed: `ed25519:` and the key in base64url.' }),
    config: { ...AgentConfig, description: 'Settings of the agent.' },
  },
  {
    $id: 'AgentEnrolled',
    description: 'An agent that was enrolled, with its token.',
    examples: [
      {
        agent_id: 'agent_01k3z9a1b2c3d4e5f6g7h8j9km',
        server_id: 'srv_01k3z9a1b2c3d4e5f6g7h8j9km',
        token: 'bw_agent_4f6Tq0bWm2Zx8Kc1Vn7Rj3Ls9Hd5Pa1x7Kq2',
        hub_key: 'ed25519:11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
        config,
      },
    ],
  },
)

export const AgentWaiting = Shape(
  { state: Words(['awaiting_approval'], { description: 'The agent awaits approval.' }) },
  {
    $id: 'AgentAwaitingApproval',
    description: 'Someone has to approve the agent first.',
    examples: [{ state: 'awaiting_approval' }],
  },
)

export const AgentReportInput = {
  ...AgentReport,
  $id: 'AgentReport',
  description: 'What an agent reports.',
  examples: [
    {
      ...{ v: 1, run_id: '01k3z9a1b2c3d4e5f6g7h8j9km', seq: 4711, sent_at: 1_795_773_906_555, clock_offset_ms: -12 },
      ...{ boot_id: '3f0c1d2e-8a77-4a5e-9a55-0d1c7a1d3b1f', uptime_seconds: 86_400, interval_seconds: 60 },
      ...{ version: '0.3.0', allow: ['collect'], backlog: false, spooled: 0, dropped: 0 },
      columns: ['cpu.used_percent', 'memory.used_bytes', 'disk.write_bytes_per_second:sda'],
      minutes: [[1_795_773_840_000, 6, [12.5, 2_147_483_648, 40_960], [31, 2_150_000_000, 901_120]]],
    },
  ],
}

export const AgentReportAnswer = Shape(
  {
    acknowledged: Type.Integer({ description: 'Number of the report that was stored.' }),
    time: Type.Integer({ description: 'Time of the hub (ms UTC).' }),
    config: { ...AgentConfig, description: 'Settings of the agent.' },
    send_all: Type.Boolean({ description: 'Whether the next report must contain everything, because the hub does not have it.' }),
  },
  {
    $id: 'AgentReportAnswer',
    description: 'The response to a report of an agent.',
    examples: [{ acknowledged: 4711, time: 1_795_773_906_620, config, send_all: false }],
  },
)

export const AgentCommandsQuery = Shape({
  // The handler checks the token first.
  run_id: Type.Optional(Type.String({ maxLength: 64, description: 'The run of the agent, as in its reports. Required.' })),
})

const LiveSeconds = (options: { description: string }) => Type.Integer({ minimum: 0, maximum: liveMs / 1000, ...options })

const SignedCommand = Shape(
  {
    payload: Type.String({
      description:
        'The command as JSON: `id`, `agent_id`, `name`, `params`, `issued_at` and `expires_at` (ms UTC), and `requested_by`.',
    }),
    signature: Type.String({ description: 'Ed25519 signature of the payload with the key of the hub, in base64.' }),
  },
  { $id: 'AgentSignedCommand', description: 'A command to an agent, signed by the hub.' },
)

export const AgentCommands = Shape(
  {
    time: Type.Integer({ description: 'Time of the hub (ms UTC).' }),
    commands: Type.Array(SignedCommand, { description: 'Commands to run.' }),
    live_seconds: LiveSeconds({
      description:
        'For how many seconds the agent must send live metrics, because someone looks at the server; 0 if it need not start.',
    }),
  },
  {
    $id: 'AgentCommands',
    description: 'Commands to an agent.',
    examples: [
      {
        time: 1_795_773_906_620,
        commands: [
          {
            payload:
              '{"id":"cmd_01k3z9a1b2c3d4e5f6g7h8j9km","agent_id":"agent_01k3z9a1b2c3d4e5f6g7h8j9km","name":"reboot","params":{},"issued_at":1795773906000,"expires_at":1795773966000,"requested_by":{"type":"user","id":"usr_01k3z9a1b2c3d4e5f6g7h8j9km","name":"Alice"}}',
            signature:
              'Zm9yIGV4YW1wbGUgb25seSwgdGhpcyBpcyBubyByZWFsIHNpZ25hdHVyZSwgYnV0IGl0IGhhcyB0aGUgc2FtZSBsZW5ndGggYXMgb25lLi4uLg==',
          },
        ],
        live_seconds: 0,
      },
    ],
  },
)

export const AgentLiveMetricsInput = {
  ...AgentLiveMetrics,
  $id: 'AgentLiveMetrics',
  description: 'Live metrics of a server, and its busiest processes.',
  examples: [
    {
      ...{ v: 1, run_id: '01k3z9a1b2c3d4e5f6g7h8j9km' },
      ...{ columns: ['cpu.used_percent', 'disk.write_bytes_per_second:sda'], values: [12.5, 40_960] },
    },
  ],
}

export const AgentLiveAnswer = Shape(
  {
    live_seconds: LiveSeconds({
      description: 'For how many seconds the agent must continue; 0 if nobody looks at the server anymore.',
    }),
  },
  { $id: 'AgentLiveAnswer', description: 'The response to live metrics of an agent.', examples: [{ live_seconds: 58 }] },
)

export const AgentCommandResult = Shape(
  {
    command_id: Type.String({ pattern: '^cmd_[0-9a-z]{26}$', description: 'ID of the command.' }),
    outcome: Words(commandOutcomes, {
      description:
        '`refused`: it was not valid, or the owner of the server doesn’t allow it. `expired`: it was not run, because it arrived too late, or because another certificate is being installed with the same profile.',
    }),
    detail: Nullable(Type.String({ maxLength: maxOutputBytes, description: 'Sentence.' }), {
      description: 'Why it was refused or failed. Null if it wasn’t.',
    }),
    output: Nullable(Type.String({ maxLength: maxOutputBytes, description: 'Text.' }), {
      description: 'What it printed. Null if nothing.',
    }),
  },
  {
    $id: 'AgentCommandResult',
    description: 'The result of a command.',
    examples: [{ command_id: 'cmd_01k3z9a1b2c3d4e5f6g7h8j9km', outcome: 'done', detail: null, output: null }],
  },
)
