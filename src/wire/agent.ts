import { Type, type Static } from '@sinclair/typebox'
import { Line, Nullable, Shape, Words } from '../core/shapes'
import { AgentCertificates } from './agent-certificates'
import { maxColumns, maxMinutes, maxSamples, packageLimits } from './agent-limits'
import { maxPermissions } from './agent-permissions'
import type { SignedCommand } from './agent-command'

/** Messages between agents and the hub, version 1. The agent imports only their types, so that it contains no validator. */

/** Why an agent stops: its server is switched off, restarts, or only the program ends. */
export const stopReasons = ['shutdown', 'reboot', 'stop'] as const
export type StopReason = (typeof stopReasons)[number]

/** Progress of an update on the server. */
export const updateStates = ['checking', 'updated', 'rolled_back'] as const

/** What can make a moment busy. */
const momentCauses = ['cpu', 'memory', 'io'] as const
/** Events that agents notice. */
export const agentEventKinds = [
  'unit.failed',
  'container.died',
  'container.unhealthy',
  'container.restarting',
  'disk.failing',
  'array.degraded',
] as const

const time = (description: string) => Type.Integer({ minimum: 0, maximum: 8.64e15, description })
const count = (description: string) => Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description })
const percent = (what: string) =>
  Nullable(Type.Number({ minimum: 0, maximum: 100 }), { description: `${what}, in percent. Null if unknown.` })
const id = (description: string) => Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$', description })
const words = (maxLength: number, description: string) => Line({ minLength: 1, maxLength, description })
const values = (description: string) => Type.Array(Nullable(Type.Number()), { maxItems: maxColumns, description })

/** What an agent knows about its server. Absent facts are unknown. */
export const AgentFacts = Shape(
  {
    hostname: Type.Optional(words(253, 'Name of the host.')),
    fqdn: Type.Optional(words(253, 'Its name with the domain.')),
    os: Type.Optional(words(200, '`PRETTY_NAME` in os-release.')),
    image: Type.Optional(words(100, '`ID` and `VERSION_ID` in os-release, such as `debian-12`.')),
    kernel: Type.Optional(words(200, 'Release of the kernel.')),
    arch: Type.Optional(words(50, 'Architecture, such as `x86_64`.')),
    virtualization: Type.Optional(words(50, 'Kind of virtual machine or container, such as `kvm` or `lxc`; `none` on hardware.')),
    cpu_model: Type.Optional(words(200, 'Model of the CPU.')),
    cores: Type.Optional(count('Number of CPUs.')),
    memory_bytes: Type.Optional(count('Memory in bytes.')),
    disk_bytes: Type.Optional(count('Size of all disks in bytes.')),
    addresses: Type.Optional(
      Type.Array(words(45, 'IP address.'), { maxItems: 256, description: 'IP addresses, except loopback.' }),
    ),
    macs: Type.Optional(
      Type.Array(words(17, 'MAC address.'), { maxItems: 256, description: 'MAC addresses of its interfaces.' }),
    ),
    uplinks: Type.Optional(
      Type.Array(words(15, 'Name.'), { maxItems: 32, description: 'Network interfaces of its default routes, such as `eth0`.' }),
    ),
    agent_uid: Type.Optional(count('ID of the user that the agent runs as.')),
    agent_platform: Type.Optional(words(50, 'Which program of the agent the server needs, such as `linux-x64`.')),
    agent_as_root: Type.Optional(
      Type.Boolean({
        description:
          'Whether the agent can run commands as root, which requires systemd. Without it, it can’t restart the server or its services, set its firewall, or update itself.',
      }),
    ),
    boot_at: Type.Optional(time('When it started (ms UTC).')),
    timezone: Type.Optional(words(64, 'Time zone, such as `Europe/Berlin`.')),
    reboot_required: Type.Optional(Type.Boolean({ description: 'Whether an update requires a restart.' })),
    updates: Type.Optional(count('Number of packages with an update.')),
    security_updates: Type.Optional(count('Number of packages with a security update.')),
  },
  { description: 'What the agent knows about its server. Absent facts are unknown.' },
)
export type AgentFacts = Static<typeof AgentFacts>

/** What an agent sends to be enrolled. */
export const AgentEnrolment = Shape({
  v: Type.Literal(1, { description: 'Version of the message.' }),
  machine_id_hash: Type.String({
    pattern: '^[0-9a-f]{64}$',
    description: 'HMAC-SHA256 of the text `bailiwick` with the machine ID as the key, in hexadecimal.',
  }),
  public_key: Type.Optional(
    Type.String({
      pattern: '^ed25519:[A-Za-z0-9_-]{43}$',
      description: 'Ed25519 key with which it signs its requests: `ed25519:` and the key in base64url.',
    }),
  ),
  version: words(64, 'Version of the agent.'),
  allow: Type.Array(words(210, 'Permission.'), {
    maxItems: maxPermissions,
    description: 'What it may do, according to a file on the server.',
  }),
  facts: AgentFacts,
})
export type AgentEnrolment = Static<typeof AgentEnrolment>

/** Settings of an agent that its hub decides. */
export const AgentConfig = Shape({
  interval_seconds: Type.Integer({ minimum: 10, maximum: 3600, description: 'Seconds between two reports.' }),
  watched_units: Type.Array(words(200, 'Name of the unit.'), {
    maxItems: 20,
    description: 'systemd units whose state is reported each minute.',
  }),
  watched_processes: Type.Optional(
    Type.Array(words(100, 'Name of the program.'), {
      maxItems: 20,
      description: 'Programs whose processes are counted each minute.',
    }),
  ),
})
export type AgentConfig = Static<typeof AgentConfig>

/** The answer to an enrolment. */
export interface EnrolmentAnswer {
  agent_id: string
  server_id: string
  /** Its own token, `bw_agent_…`. */
  token: string
  /** Ed25519 key with which commands are signed, as in `publicKeyText`. */
  hub_key: string
  config: AgentConfig
}

/** The answer while a person must approve the enrolment. The same request is sent again after ten seconds. */
export interface AwaitingApproval {
  state: 'awaiting_approval'
}

const part = <T extends Parameters<typeof Type.Array>[0]>(item: T, maxItems: number, description: string) =>
  Type.Optional(Type.Array(item, { maxItems, description: `${description} Omitted if nothing has changed.` }))

/** A report, sent at each interval. */
export const AgentReport = Shape({
  v: Type.Literal(1, { description: 'Version of the message.' }),
  run_id: id('Identifies a run of the program.'),
  seq: count('Number of the report in this run. Rises with each report.'),
  sent_at: time('When it was sent (ms UTC), by the clock of the server.'),
  clock_offset_ms: Nullable(Type.Integer({ minimum: -8.64e15, maximum: 8.64e15 }), {
    description: 'Time of the hub minus time of the server (ms), as the agent measured it. Null if unknown.',
  }),
  boot_id: id('Identifies the boot of the server.'),
  uptime_seconds: count('Seconds since the server started.'),
  interval_seconds: Type.Integer({ minimum: 10, maximum: 3600, description: 'Seconds between two reports.' }),
  version: words(64, 'Version of the agent.'),
  allow: Type.Array(words(210, 'Permission.'), {
    maxItems: maxPermissions,
    description: 'What it may do, according to a file on the server.',
  }),
  columns: Type.Array(words(150, 'Metric, with its device after a colon if it has one.'), {
    maxItems: maxColumns,
    description: 'Metrics of the minutes, such as `cpu.used_percent` or `disk.busy_percent:sda`.',
  }),
  minutes: Type.Array(
    Type.Tuple([
      time('Start of the minute (ms UTC).'),
      Type.Integer({ minimum: 1, maximum: maxSamples, description: 'Number of samples.' }),
      values('Averages, in the order of the columns. Null if nothing was measured.'),
      values('Maximums.'),
    ]),
    { maxItems: maxMinutes, description: 'Each minute as its start (ms UTC), number of samples, averages, and maximums.' },
  ),
  backlog: Type.Boolean({ description: 'Whether the minutes are older ones that could not be sent before.' }),
  stopping: Type.Optional(Words(stopReasons, { description: 'Why the agent stops after this report. Omitted unless it does.' })),
  facts: Type.Optional(AgentFacts),
  containers: part(
    Shape({
      name: words(200, 'Name.'),
      image: words(300, 'Image.'),
      state: words(30, 'State, such as `running` or `exited`.'),
      health: Nullable(words(30, 'Health.'), { description: 'Result of its health check. Null if it has none.' }),
      restarts: Nullable(count('Number of restarts.'), { description: 'Number of restarts. Null if unknown.' }),
      exit_code: Nullable(Type.Integer(), { description: 'Exit code. Null while it runs.' }),
    }),
    50,
    'Containers.',
  ),
  units: part(
    Shape({
      name: words(200, 'Name.'),
      state: words(30, 'Active state of systemd, such as `active` or `failed`.'),
      sub_state: words(30, 'More exact state, such as `running`.'),
      watched: Type.Boolean({ description: 'Whether it was chosen to be watched. The others have failed.' }),
    }),
    200,
    'Watched systemd units, and failed ones.',
  ),
  disks: part(
    Shape({
      device: words(100, 'Device.'),
      model: Nullable(words(200, 'Model.'), { description: 'Model. Null if unknown.' }),
      serial: Nullable(words(100, 'Serial number.'), { description: 'Serial number. Null if unknown.' }),
      failing: Type.Boolean({ description: 'Whether its SMART data says that it is failing or wears out.' }),
      warnings: Type.Array(words(300, 'Sentence.'), { maxItems: 20, description: 'Why it is failing.' }),
      error: Nullable(words(300, 'Sentence.'), { description: 'Why it could not be read. Null if it could.' }),
    }),
    64,
    'SMART data of disks.',
  ),
  arrays: part(
    Shape({
      name: words(100, 'Name.'),
      kind: Words(['md', 'zfs'], { description: 'Linux software RAID or ZFS pool.' }),
      state: words(50, 'State, such as `active` or `DEGRADED`.'),
      degraded: Type.Boolean({ description: 'Whether a device is missing.' }),
    }),
    64,
    'Disk arrays.',
  ),
  sockets: part(
    Shape({
      protocol: Words(['tcp', 'udp'], { description: 'Protocol.' }),
      address: words(45, 'Local address; `0.0.0.0` or `::` for all addresses.'),
      port: Type.Integer({ minimum: 0, maximum: 65_535, description: 'Port.' }),
      process: Nullable(words(100, 'Name.'), {
        description:
          'Name of the program. Null if unknown: the agent asks root for the programs of other users every hour, if systemd runs its other half.',
      }),
      user: Nullable(words(100, 'Name.'), { description: 'User who opened it. Null if the user has no name.' }),
    }),
    200,
    'Sockets that listen for connections or datagrams.',
  ),
  mounts: part(
    Shape({
      path: words(200, 'Where it is mounted.'),
      source: words(300, 'Device, or the server and path of a network file system.'),
      type: words(50, 'Type, such as `ext4` or `nfs4`.'),
      disk: Type.Optional(words(100, 'Disk that it is on, as in metrics of disks. Omitted if there is none.')),
      disk_ids: Type.Optional(
        Type.Array(words(200, 'Name in `/dev/disk/by-id`.'), {
          maxItems: 10,
          description: 'Names of its device and disk in `/dev/disk/by-id`. Omitted if there are none.',
        }),
      ),
    }),
    200,
    'File systems that store data.',
  ),
  processes: part(
    Shape({ name: words(100, 'Name of the program.'), count: count('Number of its processes.') }),
    20,
    'Watched processes.',
  ),
  sessions: part(
    Shape({
      user: words(100, 'Name of the user.'),
      terminal: Nullable(words(32, 'Terminal.'), { description: 'Terminal. Null if there is none.' }),
      from: Nullable(words(253, 'Address or name.'), { description: 'Where the user connects from. Null if local or unknown.' }),
      since: Nullable(time('When it started (ms UTC).'), { description: 'When it started (ms UTC). Null if unknown.' }),
    }),
    100,
    'Users who are logged in.',
  ),
  packages: part(
    Shape({
      name: words(packageLimits.name, 'Name, followed by a colon and the architecture if the server has another one.'),
      version: words(packageLimits.version, 'Installed version. Several versions are separated by commas.'),
    }),
    packageLimits.packages,
    'Installed packages.',
  ),
  certificates: Type.Optional(AgentCertificates),
  firewall: Type.Optional(
    Shape(
      {
        digest: Nullable(Type.String({ pattern: '^[0-9a-f]{64}$' }), {
          description: 'SHA-256 of the rule set in effect, in hexadecimal. Null if there is none.',
        }),
        confirmed: Type.Boolean({ description: 'Whether it stays in effect. Otherwise, the server restores the previous one.' }),
        counters: Type.Optional(
          Type.Record(Type.String({ maxLength: 100 }), count('Number of packets.'), {
            maxProperties: 1000,
            description: 'Packets that the rules have counted, by the comments of rules.',
          }),
        ),
      },
      { description: 'The firewall of the server. Omitted unless the agent may change it, or has changed it.' },
    ),
  ),
  update: Type.Optional(
    Shape(
      {
        command_id: id('ID of the command.'),
        version: words(64, 'The new version.'),
        state: Words(updateStates, {
          description:
            '`checking`: the new version was started, and has to report. `rolled_back`: it did not, so the previous one runs again.',
        }),
        detail: Nullable(words(300, 'Sentence.'), { description: 'Why it was rolled back. Null unless it was.' }),
      },
      { description: 'The last update of the agent. Omitted if nothing has changed.' },
    ),
  ),
  moments: Type.Optional(
    Type.Array(
      Shape({
        at: time('When it was (ms UTC).'),
        causes: Type.Array(Words(momentCauses), {
          minItems: 1,
          maxItems: 3,
          description: 'What was high for a minute: CPU use, memory use, or pressure of I/O.',
        }),
        cpu_percent: percent('CPU use'),
        memory_percent: percent('Memory use'),
        io_full_percent: percent('Time in which all tasks waited for I/O'),
        processes: Type.Array(
          Shape({
            name: words(100, 'Name of the program.'),
            user: Nullable(words(100, 'Name.'), { description: 'User. Null if the user has no name.' }),
            cpu_percent: Type.Number({ minimum: 0, maximum: 100, description: 'Percent of all CPUs.' }),
            memory_bytes: count('Memory that it uses, shared memory included.'),
            command: Nullable(words(300, 'Text.'), {
              description: 'Its arguments. Null unless the owner of the server allows reporting them.',
            }),
          }),
          { maxItems: 10, description: 'Processes with the most CPU time, and with the most memory.' },
        ),
      }),
      { maxItems: 10, description: 'Moments in which the server was busy. Omitted unless there were some.' },
    ),
  ),
  events: Type.Optional(
    Type.Array(
      Shape({
        at: time('When it was noticed (ms UTC).'),
        kind: Words(agentEventKinds, { description: 'What has happened.' }),
        name: words(200, 'Unit, container, disk, or array.'),
        detail: Nullable(words(300, 'Text.'), { description: 'What else is known. Null if nothing.' }),
      }),
      { maxItems: 50, description: 'What has started to fail. Omitted unless something has.' },
    ),
  ),
  problems: part(words(300, 'Sentence.'), 20, 'What could not be measured, and why.'),
  spooled: count('Minutes that wait to be sent, those of this report included.'),
  dropped: count('Minutes that were dropped because too many waited.'),
})
export type AgentReport = Static<typeof AgentReport>

/** The answer to a report, after it was stored. */
export interface ReportAnswer {
  acknowledged: number
  /** Time of the hub (ms UTC). */
  time: number
  config: AgentConfig
  /** Whether the next report must contain all parts, because the hub does not have them. */
  send_all: boolean
}

/** The answer to a request for commands. */
export interface CommandsAnswer {
  /** Time of the hub (ms UTC). */
  time: number
  commands: SignedCommand[]
  /** For how long the agent must send live metrics, because someone looks at the server; 0 if it need not start. */
  live_seconds: number
}

/** What a server does now. Sent every `liveIntervalMs` while someone looks at the server. It is shown, and not stored. */
export const AgentLiveMetrics = Shape({
  v: Type.Literal(1, { description: 'Version of the message.' }),
  run_id: id('Identifies a run of the program.'),
  columns: Type.Array(words(150, 'Metric, with its device after a colon if it has one.'), {
    maxItems: maxColumns,
    description: 'Metrics, as in reports.',
  }),
  values: values('Values, in the order of the columns. Null if nothing was measured.'),
  processes: Type.Optional(AgentReport.properties.moments.items.properties.processes),
})
export type AgentLiveMetrics = Static<typeof AgentLiveMetrics>

/** The answer to live metrics. */
export interface LiveAnswer {
  /** For how long the agent must continue; 0 if nobody looks at the server anymore. */
  live_seconds: number
}
