import { Type, type Static } from '@sinclair/typebox'
import { Instant, Line, ListOf, Nullable, NullableInstant, Shape, Words } from '../../../core/shapes'
import { AgentConfig, AgentFacts, stopReasons } from '../../../wire/agent'
import { agentPlatforms } from '../../../wire/agent-platforms'
import { oneAgentInput } from '../enrolment-keys/shapes'
import { installCommands } from './install-commands'

/** `silent`: it has not reported for too long. `stopped`: it announced that it stops, or its server was switched off here. */
export const linkedStates = ['reporting', 'silent', 'stopped'] as const
export type LinkedState = (typeof linkedStates)[number]

/** The states of agents of servers, and of those that have no say about a server. */
export const agentStates = [...linkedStates, 'awaiting_approval', 'revoked'] as const

/** Pause between two reports unless an agent has another one. */
export const defaultConfig: AgentConfig = { interval_seconds: 60, watched_units: [], watched_processes: [] }

/** Whether agents are updated automatically. */
export const updatePolicies = ['manual', 'auto'] as const

/** Progress of the last update of an agent. */
export const agentUpdateStates = ['updating', 'updated', 'rolled_back', 'failed'] as const

const linkedDescription =
  '`silent`: it has not reported for three of its intervals, and not for at least 90 seconds. `stopped`: it announced that it stops, its server was switched off here, or it was approved and has not connected again yet.'

const summary = {
  id: Type.String({ description: 'ID of the agent.' }),
  state: Words(linkedStates, {
    description: linkedDescription,
  }),
  version: Type.String({ description: 'Version of the agent.' }),
  last_seen_at: Instant({ description: 'When it last contacted the hub.' }),
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

const config = {
  interval_seconds: Type.Integer({
    minimum: AgentConfig.properties.interval_seconds.minimum,
    maximum: AgentConfig.properties.interval_seconds.maximum,
    description: 'Seconds between two reports.',
  }),
  watched_units: Type.Array(Line({ minLength: 1, maxLength: 200 }), {
    maxItems: 20,
    uniqueItems: true,
    description: 'systemd units whose state is reported each minute, such as `nginx.service`.',
  }),
  watched_processes: Type.Array(Line({ minLength: 1, maxLength: 100 }), {
    maxItems: 20,
    uniqueItems: true,
    description: 'Programs whose processes are counted each minute, by the names in `/proc/<pid>/comm`, such as `nginx`.',
  }),
}

const agent = {
  ...summary,
  state: Words(agentStates, {
    description: `${linkedDescription} \`awaiting_approval\`: nothing is accepted from it until someone approves it. \`revoked\`: nothing is accepted from it anymore.`,
  }),
  name: Type.String({ description: 'Name of the host.' }),
  server_id: Nullable(Type.String(), {
    description:
      'ID of the server that it reports about. While it awaits approval: the server that it would report about, or null if approving it adds a new server. Once it is revoked: the server that it reported about.',
  }),
  assurance: Words(['key', 'token'], {
    description:
      'How its requests are authenticated. `key`: it signs them with a key that never leaves the server, so its token alone is useless. `token`: by its token only.',
  }),
  hint: Nullable(Type.String(), { description: 'Start and end of its token; null if none was issued.' }),
  enrolment_key_id: Nullable(Type.String(), {
    description: 'ID of the enrolment key that it was enrolled with; null if that was deleted.',
  }),
  address: Nullable(Type.String(), { description: 'IP address from which it last sent a request; null if unknown.' }),
  run_id: Nullable(Type.String(), { description: 'ID of the current run of the program; null before the first report.' }),
  interval_seconds: Type.Integer({ description: 'Seconds between two reports, as the agent reported.' }),
  allow: Type.Array(Type.String(), { description: 'What it may do, according to a file on the server.' }),
  install_profiles: Type.Array(Type.String(), {
    description: 'Names of the install profiles in that file, with which it may issue and install certificates.',
  }),
  config: Shape(config, { $id: 'AgentConfig', description: 'Settings that the agent gets with its next report.' }),
  clock_offset_ms: Nullable(Type.Integer(), {
    description:
      'Time of the hub minus time of the server; null if unknown. If it exceeds 2 seconds, the times of its metrics are corrected by it.',
  }),
  spooled: Type.Integer({ description: 'Number of minutes of metrics on the server that are still to be sent.' }),
  dropped: Type.Integer({
    description: 'Number of minutes of metrics that the agent dropped, because too many were waiting to be sent.',
  }),
  facts: Nullable(AgentFacts, { description: 'What it reported about its server; null if nothing.' }),
  update: Shape(
    {
      policy: Nullable(Words(updatePolicies), {
        description:
          '`auto`: it is updated automatically in maintenance windows. `manual`: only by an action. Null: the policy for all agents applies.',
      }),
      available: Nullable(Type.String(), { description: 'The newer version that the hub has; null if it has none.' }),
      state: Nullable(Words(agentUpdateStates), {
        description:
          'Progress of the last update. `updated`: the new version has reported. `rolled_back`: it did not report in time, or the server restarted, so the previous version runs again. `failed`: nothing was changed, or the agent has not reported since. Null if there was none.',
      }),
      version: Nullable(Type.String(), { description: 'The version of the last update; null if there was none.' }),
      detail: Nullable(Type.String(), { description: 'Why it failed or was rolled back; otherwise null.' }),
      changed_at: NullableInstant({ description: 'When its state changed; null if there was none.' }),
    },
    { $id: 'AgentUpdate', description: 'The last update of the agent, and whether a newer version is available.' },
  ),
  silent_since_at: NullableInstant({ description: 'Since when it is silent; null if it isn’t.' }),
  stop_reason: Nullable(Words(stopReasons), {
    description: 'Why it stopped: the server is switched off or restarts, or only the agent stops. Null if it didn’t.',
  }),
  last_report_at: NullableInstant({ description: 'When its last report was stored; null if none was.' }),
  created_at: Instant({ description: 'When it was enrolled.' }),
}

const agentExample = {
  ...example,
  name: 'web-1',
  server_id: 'srv_01k3z9a1b2c3d4e5f6g7h8j9km',
  assurance: 'key' as const,
  hint: 'bw_agent_…7Kq2',
  enrolment_key_id: 'enk_01k3z9a1b2c3d4e5f6g7h8j9km',
  address: '192.0.2.20',
  run_id: '01k3z9a1b2c3d4e5f6g7h8j9km',
  interval_seconds: 60,
  allow: ['collect'],
  install_profiles: [],
  config: { interval_seconds: 60, watched_units: ['nginx.service'], watched_processes: ['nginx'] },
  clock_offset_ms: -12,
  spooled: 0,
  dropped: 0,
  facts: { hostname: 'web-1', os: 'Debian GNU/Linux 12 (bookworm)', kernel: '6.1.0-27-amd64', arch: 'x86_64' },
  update: {
    policy: null,
    available: '0.4.0',
    state: 'rolled_back' as const,
    version: '0.4.0',
    detail: 'The hub did not receive a report of version 0.4.0 within 120 seconds after it was started.',
    changed_at: '2026-11-26T22:04:10.000Z',
  },
  silent_since_at: null,
  stop_reason: null,
  last_report_at: '2026-11-27T10:05:00.000Z',
  created_at: '2026-11-21T10:00:00.000Z',
}

export const Agent = Shape(agent, {
  $id: 'Agent',
  description: 'The program on a server that reports what the server is doing.',
  examples: [agentExample],
})
export const AgentList = ListOf(Agent)

export const AgentWithToken = Shape(
  {
    ...agent,
    token: Nullable(Type.String(), {
      description: 'The new token, to be stored on the server. Shown only once; null in replayed responses.',
    }),
    secret_shown_before: Type.Optional(
      Type.Boolean({ description: 'True if the response is replayed for an Idempotency-Key. The token is then null.' }),
    ),
  },
  {
    $id: 'AgentWithToken',
    description: 'An agent with its new token.',
    examples: [{ ...agentExample, token: 'bw_agent_4f6Tq0bWm2Zx8Kc1Vn7Rj3Ls9Hd5Pa1x7Kq2' }],
  },
)

export const AgentPatch = Shape(
  {
    config: Type.Optional(
      Shape(
        {
          interval_seconds: Type.Optional(config.interval_seconds),
          watched_units: Type.Optional(config.watched_units),
          watched_processes: Type.Optional(config.watched_processes),
        },
        { description: 'Settings to update. Omitted ones stay as they are.' },
      ),
    ),
    update: Type.Optional(
      Shape(
        {
          policy: Type.Optional(
            Nullable(Words(updatePolicies), {
              description: 'Whether it is updated automatically. Null: the policy for all agents applies.',
            }),
          ),
        },
        { description: 'How it is updated.' },
      ),
    ),
  },
  {
    $id: 'AgentPatch',
    description: 'Fields of an agent to update.',
    examples: [{ config: { watched_units: ['nginx.service', 'postgresql.service'] } }, { update: { policy: 'auto' } }],
  },
)

const policyOfAll = Words(updatePolicies, {
  description:
    'Whether agents that have no policy of their own are updated automatically. `auto`: in maintenance windows. `manual`: only by an action.',
})

const AgentProgram = Shape(
  {
    platform: Words(agentPlatforms, {
      description: 'Servers for which it is: processor, C library unless it is glibc, and `baseline` without AVX2.',
    }),
    state: Words(['available', 'missing', 'other_version'], {
      description:
        '`available`: the hub has its version of the agent for them. `missing`: it has no program for them. `other_version`: the program in its folder is from another release, so it is not served.',
    }),
    reason: Nullable(Type.String(), { description: 'Why it is not available, and what to do; null if it is.' }),
  },
  {
    $id: 'AgentProgram',
    description: 'Whether the hub has its version of the agent for a platform.',
    examples: [
      {
        platform: 'linux-arm64' as const,
        state: 'other_version' as const,
        reason:
          'The program `bailiwick-agent-linux-arm64` in the folder of the hub’s program has version 0.3.0. To update agents for linux-arm64, replace it with the one of version 0.4.0.',
      },
    ],
  },
)

export const AgentUpdates = Shape(
  {
    policy: policyOfAll,
    version: Type.String({ description: 'The version of this hub, to which agents are updated.' }),
    state: Words(['idle', 'first', 'observing', 'all', 'stopped'], {
      description:
        'Progress of automatic updates to this version. `idle`: there are no agents to update. `first`: 5% of the agents, and at least one, are updated first. `observing`: they are updated, and the others follow at `continues_at`. `all`: the others are updated. `stopped`: an update was rolled back, so the others are not updated automatically.',
    }),
    waiting: Type.Integer({ description: 'Number of agents that report and are still to be updated automatically.' }),
    updating: Type.Integer({ description: 'Number of agents that are being updated.' }),
    updated: Type.Integer({
      description: 'Number of agents that were updated to this version since the automatic updates began.',
    }),
    first_count: Nullable(Type.Integer(), { description: 'Number of agents that are updated first; null before that.' }),
    continues_at: NullableInstant({
      description: 'When the other agents are updated: an hour after the first ones were. Null before that.',
    }),
    stopped: Nullable(
      Shape({
        agent_id: Type.String({ description: 'ID of the agent whose update was rolled back.' }),
        stopped_at: Instant({ description: 'When it was rolled back.' }),
        detail: Type.String({ description: 'Why it was rolled back.' }),
      }),
      { description: 'Why the automatic updates stopped; null unless they did.' },
    ),
    programs: Type.Array(AgentProgram, {
      description: 'For each platform, whether agents can be installed and updated by this hub.',
    }),
  },
  {
    $id: 'AgentUpdates',
    description: 'How agents are updated, and the progress of automatic updates.',
    examples: [
      {
        policy: 'auto' as const,
        version: '0.4.0',
        state: 'observing' as const,
        waiting: 38,
        updating: 0,
        updated: 2,
        first_count: 2,
        continues_at: '2026-11-27T03:12:00.000Z',
        stopped: null,
        programs: [{ platform: 'linux-x64' as const, state: 'available' as const, reason: null }],
      },
    ],
  },
)

export const AgentUpdatesPatch = Shape(
  { policy: Type.Optional(policyOfAll) },
  { $id: 'AgentUpdatesPatch', description: 'How agents are updated.', examples: [{ policy: 'auto' }] },
)

export const AgentApproval = Shape(
  {
    server_id: Type.Optional(
      Nullable(Type.String({ minLength: 1, maxLength: 64 }), {
        description:
          'ID of the server that it will report about. The current agent of this server is revoked. Null: a new server. If omitted, the server in `server_id` of the agent.',
      }),
    ),
  },
  {
    $id: 'AgentApproval',
    description: 'Which server an agent will report about.',
    examples: [{}, { server_id: 'srv_01k3z9a1b2c3d4e5f6g7h8j9km' }],
  },
)

export const defaultGraceSeconds = 86_400
export const AgentTokenRotation = Shape(
  {
    grace_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 604_800,
        default: defaultGraceSeconds,
        description: 'Seconds for which the old token stays valid.',
      }),
    ),
  },
  { $id: 'AgentTokenRotation', description: 'How to rotate the token.', examples: [{ grace_seconds: 3600 }] },
)

const { approve, allow, expires_in_seconds, ...forNewServer } = oneAgentInput

export const ServerAgentInstallInput = Shape(
  { approve, allow, expires_in_seconds },
  {
    $id: 'ServerAgentInstallInput',
    description: 'How to install the agent on a server.',
    examples: [{ allow: ['reboot', 'firewall'] }],
  },
)

export const AgentInstallInput = Shape(
  {
    name: Type.Optional(
      Line({
        minLength: 1,
        maxLength: 100,
        default: 'New server',
        description: 'Name of the enrolment key. The server gets the name of its host.',
      }),
    ),
    ...{ approve, allow, expires_in_seconds },
    ...forNewServer,
  },
  {
    $id: 'AgentInstallInput',
    description: 'How to install the agent on a server that isn’t known yet.',
    examples: [{ labels: { role: 'web' }, allow: ['reboot'] }],
  },
)

const installKey = 'bw_enrol_4f6Tq0bWm2Zx8Kc1Vn7Rj3Ls9Hd5Pa1x7Kq2'
export const AgentInstallation = Shape(
  {
    enrolment_key_id: Type.String({ description: 'ID of the enrolment key, which can be used once.' }),
    key: Nullable(Type.String(), { description: 'The enrolment key. Shown only once; null in replayed responses.' }),
    commands: Nullable(
      Shape({
        curl: Type.String({ description: 'Command for a shell on the server, with curl.' }),
        wget: Type.String({ description: 'The same with wget.' }),
        cloud_init: Type.String({ description: 'User data for cloud-init.' }),
        shell_agent: Type.String({
          description:
            'Command to run as root on a router or small board. It installs the agent as a shell script, which only measures: `allow` has no effect.',
        }),
      }),
      { description: 'Commands that install and enroll the agent; null in replayed responses.' },
    ),
    expires_at: Instant({ description: 'When the key expires.' }),
    secret_shown_before: Type.Optional(
      Type.Boolean({ description: 'True if the response is replayed for an Idempotency-Key. Key and commands are then null.' }),
    ),
  },
  {
    $id: 'AgentInstallation',
    description: 'Commands that install and enroll an agent.',
    examples: [
      {
        enrolment_key_id: 'enk_01k3z9a1b2c3d4e5f6g7h8j9km',
        key: installKey,
        commands: {
          ...installCommands({
            baseUrl: 'https://hub.example.com',
            hubKey: 'ed25519:11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
            key: installKey,
            certificate: null,
            allow: ['reboot'],
          }),
          // The digest is different in each version.
          shell_agent: `f=$(mktemp) && curl -fsS https://hub.example.com/download/agent.sh >"$f" && echo "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08  $f" | sha256sum -c >/dev/null && sh "$f" install --hub https://hub.example.com --key ${installKey}`,
        },
        expires_at: '2026-11-27T11:00:00.000Z',
      },
    ],
  },
)

export type ServerAgentInstallInput = Static<typeof ServerAgentInstallInput>
export type AgentInstallInput = Static<typeof AgentInstallInput>
export type AgentInstallationView = Static<typeof AgentInstallation>
export type AgentSummaryView = Static<typeof AgentSummary>
export type AgentView = Static<typeof Agent>
export type AgentProgramView = Static<typeof AgentProgram>
export type AgentUpdatesView = Static<typeof AgentUpdates>
export type AgentUpdatesPatch = Static<typeof AgentUpdatesPatch>
export type AgentPatch = Static<typeof AgentPatch>
export type AgentTokenRotation = Static<typeof AgentTokenRotation>
export type AgentWithTokenView = Static<typeof AgentWithToken>
export type AgentApproval = Static<typeof AgentApproval>
